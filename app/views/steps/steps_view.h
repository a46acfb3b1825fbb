#pragma once

#include "app/charts/step_bars.h"
#include "app/document/selection.h"

#include <vector>

class QToolButton;

namespace app {

/// Bars of all steps, linked to the selection: a bar shows its step, and a selected slice marks the bar of its step.
class StepsView : public StepBars {
    Q_OBJECT
public:
    explicit StepsView(Selection* selection, QWidget* parent = nullptr);

    /// Sets the steps of the trace on screen; keeps the mark.
    void showSteps(std::vector<profiler::analysis::Step> steps);
    /// Needed to find the time of a selected slice.
    void setTrace(std::shared_ptr<const profiler::Trace> trace) { m_trace = std::move(trace); }

signals:
    /// The user asks why a step takes longer than the median.
    void explanationWanted(int step);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showMenu(int step, QPoint global);
    void showButton();
    void explain(profiler::SliceId step);
    void showStep(int step);
    void takeSelection();

    Selection* m_selection;
    std::shared_ptr<const profiler::Trace> m_trace;
    QToolButton* m_why; ///< explains the chosen step, otherwise the slowest one that stands out
};

} // namespace app
