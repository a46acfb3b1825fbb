#include "app/document/finding_text.h"
#include "app/timeline/timeline_canvas.h"
#include "app/views/timeline/timeline_view.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* view = new TimelineView(bench.document.selection(), BookmarkStore::standard(), parent);
    TraceDocument* document = &bench.document;
    QObject::connect(document, &TraceDocument::traceReplaced, view,
                     [=] { view->replaceTrace(document->trace(), document->path()); });
    QObject::connect(document, &TraceDocument::traceChanged, view, [=] { view->updateTrace(document->trace()); });
    QObject::connect(view, &TimelineView::bookmarksChanged, document, [=](const QByteArray& text) {
        document->keepWithTrace(TimelineView::kBookmarksKey, text.toStdString());
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
    const auto comes = [view](const QString& what) { view->canvas()->setComing(what); };
    QObject::connect(&bench.training, &TrainingService::stateChanged, view, [=](RunState state) {
        comes(state == RunState::Starting ? TimelineView::tr("Its threads appear here when they start to work.")
                                          : QString());
    });
    QObject::connect(&bench.training, &TrainingService::progressed, view,
                     [=](const config::protocol::Progress& progress) {
                         if (const auto* preparing = std::get_if<config::protocol::Preparing>(&progress))
                             comes(preparingText(*preparing));
                     });
    view->replaceTrace(document->trace(), document->path());
    showAnalysed();
    return view;
}

} // namespace

View timeline()
{
    return {QCoreApplication::translate("views", "Timeline"), ViewArea::Center, 1, create};
}

} // namespace app::views
