#pragma once

#include "app/tables/evidence_table.h"
#include "profiler/analysis/memory/memory_holders.h"
#include "profiler/analysis/steps/steps.h"

#include <QWidget>
#include <vector>

class QVBoxLayout;

namespace app {

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

} // namespace app
