#pragma once

#include "app/session/background.h"
#include "app/widgets/evidence_table.h"
#include "profiler/analysis/facts.h"
#include "profiler/model/trace.h"

#include <QWidget>
#include <memory>

class QLabel;
class QVBoxLayout;

namespace advisor {
struct LookTable;
}

namespace app {

/// What a closer look at a whole trace tells: launches and the queue, the critical path, copies, who sets memory and
/// who waits, workers, stragglers, and what the trace does not tell. It is taken when this is first seen, on another
/// thread; never of a trace that grows. A row leads to what shows it.
class DetailedAnalysisSummary : public QWidget {
    Q_OBJECT
public:
    explicit DetailedAnalysisSummary(QWidget* parent);

    /// @param trace  null, or one that grows: nothing is shown
    void show(std::shared_ptr<const profiler::Trace> trace, std::shared_ptr<const profiler::analysis::Facts> facts);

signals:
    void evidenceChosen(const app::Evidence& evidence);

protected:
    void showEvent(QShowEvent* event) override;

private:
    void look();
    void fill(const std::vector<advisor::LookTable>& tables);
    void addTable(const advisor::LookTable& table);

    std::shared_ptr<const profiler::Trace> m_trace;
    std::shared_ptr<const profiler::analysis::Facts> m_facts;
    bool m_wanted = false; ///< not looked yet
    QVBoxLayout* m_column;
    QLabel* m_waiting;
    QWidget* m_content = nullptr; ///< made anew for each trace
    Background m_thread;
};

} // namespace app
