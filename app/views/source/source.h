#pragma once

#include "advisor/evidence/source_lines.h"
#include "advisor/rule.h"
#include "app/document/recorded_files.h"
#include "app/findings/finding_card.h"
#include "app/look/python_colors.h"

#include <QAbstractTableModel>
#include <QWidget>
#include <map>
#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QScrollArea;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolButton;
class QVBoxLayout;

/// The view of the user's source files, and the model of the lines of one file.
namespace app {

struct Advised;

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

/// The user's source files of a recorded Python program with the training time of each line. Selecting a line shows its
/// occurrences on the timeline and its findings; selecting a slice shows its line.
class SourcePanel : public QWidget {
    Q_OBJECT
public:
    SourcePanel(const FindingServices& services, QWidget* parent);

    /// Null: not analysed yet.
    void showAdvice(std::shared_ptr<const Advised> advised);
    /// Selects a line in a file of the program and brings the view to the front.
    void goTo(const QString& file, int line);

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeHead();
    QWidget* makeTable();
    QWidget* makeCards();
    void showFile();
    void showEmpty(const QString& why);
    void selectRow(int row);
    void center(int row);
    void centerWhenLaidOut();
    void takeRow();
    void refreshCards();
    void takeSelection();
    void showRange(std::size_t index);
    void showCards(int row);
    [[nodiscard]] QString currentFile() const;

    FindingServices m_uses;
    std::shared_ptr<const Advised> m_advised;
    QStackedWidget* m_pages;
    QLabel* m_empty;
    QComboBox* m_files = nullptr;
    QLabel *m_about = nullptr, *m_problem = nullptr, *m_where = nullptr;
    QToolButton *m_previous = nullptr, *m_next = nullptr, *m_edit = nullptr;
    SourceModel* m_model;
    QTableView* m_table = nullptr;
    QSplitter* m_split = nullptr;
    QScrollArea* m_cardArea = nullptr;
    QVBoxLayout* m_cardLayout = nullptr;
    std::vector<FindingCard*> m_cards;         ///< of the selected line
    std::vector<profiler::TimeRange> m_ranges; ///< occurrences of the selected line
    std::size_t m_range = 0;                   ///< index of the displayed occurrence
    int m_toCenter = -1;                       ///< row to scroll to when the table has its size; -1: none
    bool m_isFollowing = false;                ///< the row is following the selection and must not change it
};

} // namespace app
