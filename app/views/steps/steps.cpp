#include "app/document/session.h"
#include "app/views/steps/steps_view.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    auto* view = new StepsView(context.selection, parent);
    Session* session = context.session;
    const auto showAnalysed = [=] {
        const auto analysed = session->analysed();
        view->showSteps(analysed ? analysed->facts.steps : std::vector<profiler::analysis::Step>());
        // A trace without steps leaves the space to the timeline; during the analysis, the steps are unknown.
        const bool mayCome = session->isRunOpen() || session->traceTitle().isEmpty();
        if (analysed || mayCome)
            view->setVisible(mayCome || !analysed->facts.steps.empty());
    };
    QObject::connect(session, &Session::traceChanged, view, [=] { view->setTrace(session->trace()); });
    QObject::connect(session, &Session::analysedChanged, view, showAnalysed);
    view->setTrace(session->trace());
    showAnalysed();
    return view;
}

} // namespace

View steps()
{
    return {QCoreApplication::translate("views", "Steps"), ViewArea::Center, 0, create};
}

} // namespace app::views
