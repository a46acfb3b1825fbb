#include "app/document/finding_text.h"
#include "app/document/session.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/timeline/timeline_view.h"
#include "app/views/view.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(const ViewContext& context, QWidget* parent)
{
    auto* view = new TimelineView(context.selection, BookmarkStore::standard(), parent);
    Session* session = context.session;
    QObject::connect(session, &Session::traceReplaced, view,
                     [=] { view->replaceTrace(session->trace(), session->tracePath()); });
    QObject::connect(session, &Session::traceChanged, view, [=] { view->updateTrace(session->trace()); });
    QObject::connect(view, &TimelineView::bookmarksChanged, session, [=](const QByteArray& text) {
        session->keepWithTrace(TimelineView::kBookmarksKey, text.toStdString());
    });
    QObject::connect(view, &TimelineView::noticed, session, &Session::noticed);
    const auto showAnalysed = [=] {
        // An analysis of an earlier snapshot is still valid for its part; one of another trace never arrives here.
        const auto analysed = session->analysed();
        if (!analysed)
            return;
        // A finished run may have more steps than its last analysis while it ran.
        if (!analysed->trace->captureStats().live || session->trace()->captureStats().live)
            view->showSteps({analysed, &analysed->facts.steps});
        view->showGaps(analysed->summary.gaps);
    };
    QObject::connect(session, &Session::analysedChanged, view, showAnalysed);
    const auto comes = [view](const QString& what) { view->canvas()->setComing(what); };
    QObject::connect(session, &Session::runStateChanged, view, [=](RunState state) {
        comes(state == RunState::Starting ? TimelineView::tr("Its threads appear here when they start to work.")
                                          : QString());
    });
    QObject::connect(session, &Session::progressed, view, [=](const config::protocol::Progress& progress) {
        if (const auto* preparing = std::get_if<config::protocol::Preparing>(&progress))
            comes(preparingText(*preparing));
    });
    view->replaceTrace(session->trace(), session->tracePath());
    showAnalysed();
    return view;
}

} // namespace

View timeline()
{
    return {QCoreApplication::translate("views", "Timeline"), ViewArea::Center, 1, create};
}

} // namespace app::views
