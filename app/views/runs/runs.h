#pragma once

#include "app/services/run_store.h"

#include <QAbstractTableModel>
#include <QString>
#include <cstddef>
#include <vector>

namespace app {

/// The kept runs, newest first, each compared with a baseline.
class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { When, Changes, Rate, Against, kColumns };

    using QAbstractTableModel::QAbstractTableModel;

    void setRuns(std::vector<RunRecord> runs);
    /// Name of the baseline run for its model; if it is empty, missing or of another model, the oldest run of the same
    /// model is used.
    void setBaseline(const QString& name);
    [[nodiscard]] const RunRecord& run(int row) const { return m_runs[static_cast<std::size_t>(row)]; }
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void findBaselines();
    [[nodiscard]] const RunRecord& baseline(int row) const
    {
        return m_runs[m_baselines[static_cast<std::size_t>(row)]];
    }
    [[nodiscard]] QString text(int row, int column) const;
    [[nodiscard]] static QString rateText(const RunOutcome& outcome);
    [[nodiscard]] QString toolTip(const RunRecord& run) const;

    std::vector<RunRecord> m_runs;
    std::vector<std::size_t> m_baselines; ///< index of each run's baseline in m_runs; its own index if there is no
                                          ///< other
    QString m_baseline;
};

/// "workers = 2, amp = bf16": the differences of `run` from `baseline`, with the labels of the knobs.
QString changesText(const config::TrainingConfig& baseline, const config::TrainingConfig& run);

} // namespace app
