#include "app/views/timeline/timeline_view.h"

#include "app/widgets/capture_notice.h"
#include "app/widgets/timeline_canvas.h"

#include <QAction>
#include <QVBoxLayout>

namespace app {

TimelineView::TimelineView(Selection* selection, QWidget* parent)
    : QWidget(parent), m_selection(selection), m_notice(new CaptureNotice(this)), m_canvas(new TimelineCanvas(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_notice);
    column->addWidget(m_canvas, 1);
    setFocusProxy(m_canvas);
    addActions(m_canvas->actions());

    connect(m_canvas, &TimelineCanvas::sliceSelected, selection, &Selection::selectSlice);
    connect(m_canvas, &TimelineCanvas::rangeSelected, selection, &Selection::selectRange);
    connect(m_canvas, &TimelineCanvas::selectionCleared, selection, &Selection::clear);
    connect(selection, &Selection::changed, this, &TimelineView::takeSelection);
    connect(selection, &Selection::showRequested, m_canvas, &TimelineCanvas::bringIntoView);
}

void TimelineView::replaceTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_selection->clear(); // its ids mean nothing in another trace
    m_notice->setStats(trace->captureStats());
    m_canvas->setTrace(std::move(trace));
}

void TimelineView::updateTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_notice->setStats(trace->captureStats());
    m_canvas->updateTrace(std::move(trace));
}

void TimelineView::takeSelection()
{
    m_canvas->setSelectedSlice(m_selection->slice());
    m_canvas->setSelectedRange(m_selection->range());
}

} // namespace app
