#include "app/document/finding_text.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/viewport_link.h"
#include "app/timeline_tools/timeline_bookmarks.h"
#include "app/views/timeline/timeline_view.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

/// Links the timeline with that of a second trace, and shows which of both it is.
void linkSecondTrace(TimelineView* view, TracePair* pair)
{
    new ViewportLink(view->canvas(), pair, Side::First, view);
    const auto showName = [=] {
        view->setName(pair->isOpen() ? QStringLiteral("A  ·  ") + pair->document(Side::First)->title() : QString(),
                      pair->activeSide() == Side::First);
    };
    QObject::connect(pair, &TracePair::openChanged, view, showName);
    QObject::connect(pair, &TracePair::changed, view, showName);
    QObject::connect(pair, &TracePair::activeSideChanged, view, showName);
    QObject::connect(pair, &TracePair::counterpartSelected, view, [=](Side side, profiler::SliceId id) {
        const auto& trace = view->canvas()->scene().trace;
        if (side == Side::First && trace && holds(*trace, id))
            view->canvas()->revealTrack(id.track, trace->slice(id).depth);
    });
}

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* view = new TimelineView(bench.document.selection(), BookmarkStore::standard(), parent);
    TraceDocument* document = &bench.document;
    QObject::connect(document, &TraceDocument::traceReplaced, view,
                     [=] { view->replaceTrace(document->trace(), document->path()); });
    QObject::connect(document, &TraceDocument::traceChanged, view, [=] { view->updateTrace(document->trace()); });
    QObject::connect(document, &TraceDocument::morePartsHere, view, [=] { view->canvas()->reread(); });
    QObject::connect(view, &TimelineView::bookmarksChanged, document, [=](const QByteArray& text) {
        document->keepWithTrace(TimelineBookmarks::kMetadataKey, text.toStdString());
    });
    QObject::connect(view, &TimelineView::noticed, &bench.notices, &Notices::noticed);
    const auto showAnalysed = [=] {
        // An analysis of an earlier snapshot is still valid for its part; one of another trace never arrives here.
        const auto analysed = document->analysed();
        if (!analysed)
            return;
        // A finished run may have more steps than its last analysis while it ran.
        if (!analysed->trace->captureStats().live || document->trace()->captureStats().live)
            view->showSteps({analysed, &analysed->facts.steps});
        view->showGaps(analysed->summary.gaps);
    };
    QObject::connect(document, &TraceDocument::analysedChanged, view, showAnalysed);
    const auto comes = [view](const QString& what) {
        view->canvas()->setComing({what.isEmpty() ? QString() : TimelineView::tr("The training is starting"), what});
    };
    QObject::connect(&bench.training, &TrainingService::stateChanged, view, [=](RunState state) {
        comes(state == RunState::Starting ? TimelineView::tr("Its threads appear here when they start to work.")
                                          : QString());
    });
    QObject::connect(&bench.job, &JobDocument::loading, view, [=](const QString& what, double share) {
        view->canvas()->setComing(share < 1
                                      ? TimelineCanvas::EmptyText{TimelineView::tr("Reading the traces of the job"),
                                                                  what + QStringLiteral("…")}
                                      : TimelineCanvas::EmptyText{});
    });
    QObject::connect(document, &TraceDocument::loading, view, [=](const QString& what, double share) {
        view->canvas()->setComing(
            share < 1 ? TimelineCanvas::EmptyText{what, TimelineView::tr("Its tracks appear here as they are read.")}
                      : TimelineCanvas::EmptyText{});
    });
    QObject::connect(&bench.training, &TrainingService::progressed, view,
                     [=](const config::protocol::Progress& progress) {
                         if (const auto* preparing = std::get_if<config::protocol::Preparing>(&progress))
                             comes(preparingText(*preparing));
                     });
    view->replaceTrace(document->trace(), document->path());
    showAnalysed();
    linkSecondTrace(view, &bench.pair);
    return view;
}

} // namespace

View timeline()
{
    return {QCoreApplication::translate("views", "Timeline"), ViewArea::Center, 1, create};
}

} // namespace app::views
