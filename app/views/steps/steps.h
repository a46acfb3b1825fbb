#pragma once

#include "app/charts/step_charts.h"
#include "app/document/selection.h"
#include "app/services/background.h"
#include "profiler/analysis/steps/slow_step.h"

#include <QDialog>
#include <memory>
#include <vector>

class QLabel;
class QProgressBar;
class QToolButton;
class QVBoxLayout;

/// The view of all steps as bars, and the window that explains a slow step.
namespace app {

class TraceDocument;

/// A window that says why a step takes longer than the median step. Each cause is a link to its place in the timeline.
/// Computed in the background; closed when another trace is opened.
class StepExplanation : public QDialog {
    Q_OBJECT
public:
    StepExplanation(const TraceDocument* document, QWidget* parent);

    /// Shows the step with this position in the analysed steps.
    void explain(int step);

private:
    void take(const profiler::analysis::SlowStep& slow);
    void addCause(const profiler::analysis::SlowStepCause& cause);
    void clearCauses();

    const TraceDocument* m_document;
    Background m_work;
    QLabel *m_headline, *m_note;
    QProgressBar* m_progress;
    QVBoxLayout* m_causes;
};

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
