#pragma once

#include "app/document/trace_summary.h"
#include "app/tables/evidence_table.h"

#include <QWidget>
#include <memory>

class QLabel;

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

} // namespace app
