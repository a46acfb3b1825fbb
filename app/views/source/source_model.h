#pragma once

#include "advisor/evidence/source_lines.h"
#include "advisor/rule.h"
#include "app/document/recorded_files.h"
#include "app/look/python_colors.h"

#include <QAbstractTableModel>
#include <map>
#include <vector>

namespace app {

/// The source lines of one file of a recorded program, with the training time in each line and the findings on it.
class SourceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Finding, Line, Host, Self, Wait, Device, Allocated, Code, kColumns };
    /// For Code cells: the coloured parts, as std::vector<CodePart>*. For all cells: the share of the sampled time
    /// spent in the line itself, from 0 to 1.
    enum Role { PartsRole = Qt::UserRole, HeatRole };

    using QAbstractTableModel::QAbstractTableModel;

    /// @param file  null: show nothing. If it has no text, only lines with time or findings have a row.
    void show(const RecordedFile* file, const advisor::SourceLines& lines,
              const std::vector<advisor::RuleAdvice>& findings);
    [[nodiscard]] bool hasDevice() const { return m_hasDevice; }
    [[nodiscard]] bool hasAllocations() const { return m_hasAllocations; }
    [[nodiscard]] int lineOf(int row) const;
    /// -1 if there is no row for it.
    [[nodiscard]] int rowOf(int line) const;
    /// Indices into the displayed advice.
    [[nodiscard]] const std::vector<std::size_t>& findingsOf(int row) const;
    /// The row with the most self time; -1 if no row has any.
    [[nodiscard]] int hottestRow() const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        int line = 0;
        QString code;
        std::vector<CodePart> parts;
        advisor::SourceLine time; ///< zeros: not sampled
        std::vector<std::size_t> findings;
        QString titles; ///< of the findings
    };
    [[nodiscard]] QString text(const Row& row, int column) const;

    std::vector<Row> m_rows; ///< by line
    double m_sampledUs = 0;
    bool m_hasDevice = false;
    bool m_hasAllocations = false;
};

} // namespace app
