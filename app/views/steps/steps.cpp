#include "app/views/steps/step_explanation.h"
#include "app/views/steps/steps_view.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* view = new StepsView(bench.document.selection(), parent);
    TraceDocument* document = &bench.document;
    const auto showAnalysed = [=] {
        const auto analysed = document->analysed();
        view->showSteps(analysed ? analysed->facts.steps : std::vector<profiler::analysis::Step>());
        // A trace without steps leaves the space to the timeline; during the analysis, the steps are unknown.
        const bool mayCome = document->isFollowingRun() || document->title().isEmpty();
        if (analysed || mayCome)
            view->setVisible(mayCome || !analysed->facts.steps.empty());
    };
    QObject::connect(document, &TraceDocument::traceChanged, view, [=] { view->setTrace(document->trace()); });
    QObject::connect(document, &TraceDocument::analysedChanged, view, showAnalysed);
    auto* explanation = new StepExplanation(document, view);
    QObject::connect(view, &StepsView::explanationWanted, explanation, &StepExplanation::explain);
    view->setTrace(document->trace());
    showAnalysed();
    return view;
}

} // namespace

View steps()
{
    return {QCoreApplication::translate("views", "Steps"), ViewArea::Center, 0, create};
}

} // namespace app::views
