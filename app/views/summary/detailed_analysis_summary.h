#pragma once

#include "app/services/background.h"
#include "app/tables/evidence_table.h"
#include "profiler/analysis/facts.h"
#include "profiler/model/trace.h"

#include <QWidget>
#include <memory>

class QLabel;
class QVBoxLayout;

namespace advisor {
struct AnalysisTable;
}

namespace app {

/// The detailed analysis of a whole trace: launches and the queue, the critical path, copies, memsets, waits, workers,
/// stragglers, and missing data. It runs on another thread when the page is first visible, and never for a growing
/// trace. A row links to its evidence.
class DetailedAnalysisSummary : public QWidget {
    Q_OBJECT
public:
    explicit DetailedAnalysisSummary(QWidget* parent);

    /// @param trace  null or growing: shows nothing
    void show(std::shared_ptr<const profiler::Trace> trace, std::shared_ptr<const profiler::analysis::Facts> facts);

signals:
    void evidenceChosen(const app::Evidence& evidence);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void analyse();
    void fill(const std::vector<advisor::AnalysisTable>& tables);
    void addTable(const advisor::AnalysisTable& table);

    std::shared_ptr<const profiler::Trace> m_trace;
    std::shared_ptr<const profiler::analysis::Facts> m_facts;
    bool m_wanted = false; ///< not analysed yet
    QVBoxLayout* m_column;
    QLabel* m_waiting;
    QWidget* m_content = nullptr; ///< recreated for each trace
    Background m_thread;
};

} // namespace app
