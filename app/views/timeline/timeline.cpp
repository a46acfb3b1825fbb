#include "app/session/session.h"
#include "app/views/timeline/timeline_view.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    auto* view = new TimelineView(context.selection, parent);
    Session* session = context.session;
    QObject::connect(session, &Session::traceReplaced, view, [=] { view->replaceTrace(session->trace()); });
    QObject::connect(session, &Session::traceChanged, view, [=] { view->updateTrace(session->trace()); });
    view->replaceTrace(session->trace());
    return view;
}

} // namespace

View timeline()
{
    return {QCoreApplication::translate("views", "Timeline"), ViewArea::Center, 1, create};
}

} // namespace app::views
