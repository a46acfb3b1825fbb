#include "app/views/timeline/timeline_view.h"

#include "app/models/slice_details.h"
#include "app/widgets/capture_notice.h"
#include "app/widgets/timeline_actions.h"
#include "app/widgets/timeline_canvas.h"

#include <QMenu>
#include <QSettings>
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
    for (QMenu* menu : timelineMenus(*m_canvas, this))
        addAction(menu->menuAction());

    connect(m_canvas, &TimelineCanvas::sliceSelected, selection, &Selection::selectSlice);
    connect(m_canvas, &TimelineCanvas::rangeSelected, selection, &Selection::selectRange);
    connect(m_canvas, &TimelineCanvas::selectionCleared, selection, &Selection::clear);
    connect(m_canvas, &TimelineCanvas::rowLayoutChanged, this, &TimelineView::keepRowLayout);
    connect(selection, &Selection::changed, this, &TimelineView::takeSelection);
    connect(selection, &Selection::showRequested, m_canvas, &TimelineCanvas::bringIntoView);
}

void TimelineView::replaceTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_selection->clear(); // its ids mean nothing in another trace
    m_notice->setStats(trace->captureStats());
    takeRowLayout(*trace);
    m_canvas->setTrace(std::move(trace));
}

void TimelineView::updateTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_notice->setStats(trace->captureStats());
    m_canvas->updateTrace(std::move(trace));
}

/// Traces of one format have rows of the same kinds: they stand as the user left the last one's.
void TimelineView::takeRowLayout(const profiler::Trace& trace)
{
    const QString format = traceText(trace.format());
    m_rowsKey = QStringLiteral("timeline/rows/") + (format.isEmpty() ? QStringLiteral("none") : format);
    m_canvas->setRowLayout(RowLayout::fromJson(QSettings().value(m_rowsKey).toByteArray()));
}

void TimelineView::keepRowLayout() const
{
    QSettings settings;
    if (m_canvas->rowLayout() == RowLayout{})
        settings.remove(m_rowsKey);
    else
        settings.setValue(m_rowsKey, m_canvas->rowLayout().toJson());
}

void TimelineView::takeSelection()
{
    m_canvas->setSelectedSlice(m_selection->slice());
    m_canvas->setSelectedRange(m_selection->range());
}

} // namespace app
