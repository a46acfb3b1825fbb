#include "app/document/session.h"
#include "app/views/selection/selection_panel.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    auto* panel = new SelectionPanel(context.selection, parent);
    Session* session = context.session;
    QObject::connect(session, &Session::traceChanged, panel, [=] { panel->setTrace(session->trace()); });
    QObject::connect(session, &Session::analysedChanged, panel, [=] {
        const auto analysed = session->analysed();
        using Steps = std::vector<profiler::analysis::Step>;
        panel->setSteps(analysed ? std::shared_ptr<const Steps>(analysed, &analysed->facts.steps) : nullptr);
    });
    QObject::connect(session, &Session::adviceChanged, panel, [=] { panel->setAdvice(session->advice()); });
    panel->setTrace(session->trace());
    return panel;
}

} // namespace

View selection()
{
    return {QCoreApplication::translate("views", "Selection"), ViewArea::Bottom, 1, create};
}

} // namespace app::views
