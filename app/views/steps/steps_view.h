#pragma once

#include "app/session/selection.h"
#include "app/widgets/step_bars.h"

#include <vector>

namespace app {

/// The bars of all steps, tied to the selection: a bar shows its step, a selected slice marks the bar that holds it.
class StepsView : public StepBars {
    Q_OBJECT
public:
    explicit StepsView(Selection* selection, QWidget* parent = nullptr);

    /// Steps of the trace on screen; keeps the mark.
    void showSteps(std::vector<profiler::analysis::Step> steps);
    /// For finding the time of a selected slice.
    void setTrace(std::shared_ptr<const profiler::Trace> trace) { m_trace = std::move(trace); }

private:
    void showStep(int step);
    void takeSelection();

    Selection* m_selection;
    std::shared_ptr<const profiler::Trace> m_trace;
};

} // namespace app
