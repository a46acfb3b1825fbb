#pragma once

#include "app/widgets/evidence_table.h"
#include "profiler/analysis/memory_holders.h"
#include "profiler/analysis/steps.h"

#include <QWidget>
#include <vector>

class QVBoxLayout;

namespace app {

/// What held the memory of each device when most of it was in use, and when it ran out. Hidden where the trace keeps
/// none of that. A row leads to its step.
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
    QWidget* m_content = nullptr; ///< made anew when there is something else to show
    std::vector<profiler::analysis::MemoryMoment> m_shown;
};

} // namespace app
