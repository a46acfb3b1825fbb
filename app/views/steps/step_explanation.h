#pragma once

#include "app/services/background.h"
#include "profiler/analysis/steps/slow_step.h"

#include <QDialog>
#include <memory>

class QLabel;
class QProgressBar;
class QVBoxLayout;

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

} // namespace app
