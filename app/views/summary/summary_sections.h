#pragma once

#include "app/document/trace_summary.h"
#include "app/services/background.h"
#include "app/tables/evidence_table.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/memory/memory_over_time.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <QWidget>
#include <memory>
#include <vector>

class QLabel;
class QVBoxLayout;

namespace advisor {
struct AnalysisTable;
}

/// Sections of the summary: the GPUs, their memory, and the detailed analysis.
namespace app {

class PartsBar;

/// GPU activity and idle causes: the breakdown of the step time, the utilization of each GPU, idle causes, and the top
/// kernels. Hidden if the trace has no GPU.
class DeviceSummary : public QWidget {
    Q_OBJECT
public:
    explicit DeviceSummary(QWidget* parent);

    void show(const TraceSummary& summary);

signals:
    void evidenceChosen(const app::Evidence& evidence);

private:
    void showBreakdown(const profiler::analysis::Breakdown& breakdown);
    void showDevices(const TraceSummary& summary);
    void showKernels(const TableRows* kernels);

    QLabel *m_breakdownHead, *m_devicesHead, *m_devicesText, *m_idleHead, *m_kernelsHead;
    PartsBar* m_bar;
    EvidenceTable *m_breakdown, *m_idle, *m_kernels;
};

/// The memory use of each device at its peak and when it ran out, by allocating operator. Hidden if the trace has no
/// memory events. A row links to its step.
class MemorySummary : public QWidget {
    Q_OBJECT
public:
    explicit MemorySummary(QWidget* parent);

    void show(const std::vector<profiler::analysis::MemoryMoment>& moments,
              const std::vector<profiler::analysis::Step>& steps);

signals:
    void evidenceChosen(const app::Evidence& evidence);

private:
    void addMoment(const profiler::analysis::MemoryMoment& moment, const std::vector<profiler::analysis::Step>& steps);

    QVBoxLayout* m_column;
    QWidget* m_content = nullptr; ///< recreated when the content changes
    std::vector<profiler::analysis::MemoryMoment> m_shown;
};

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
