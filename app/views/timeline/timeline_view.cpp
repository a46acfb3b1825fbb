#include "app/views/timeline/timeline_view.h"

#include "app/findings/capture_notice.h"
#include "app/look/elided_label.h"
#include "app/look/qstring.h"
#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline/timeline_minimap.h"
#include "app/timeline_tools/find_bar.h"
#include "app/timeline_tools/timeline_bookmarks.h"
#include "app/timeline_tools/timeline_search.h"

#include <QMenu>
#include <QSettings>
#include <QTimer>
#include <QVBoxLayout>
#include <chrono>

namespace app {

namespace {
constexpr std::chrono::seconds kBetweenLooks{1};
} // namespace

TimelineView::TimelineView(Selection* selection, BookmarkStore bookmarks, QWidget* parent)
    : QWidget(parent), m_selection(selection), m_name(new ElidedLabel(this)), m_notice(new CaptureNotice(this)),
      m_minimap(new TimelineMinimap(this)), m_canvas(new TimelineCanvas(this)),
      m_search(new TimelineSearch(m_canvas, this)),
      m_bookmarks(new TimelineBookmarks(m_canvas, std::move(bookmarks), this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    m_name->setObjectName("firstTraceName");
    m_name->setContentsMargins(8, 3, 8, 3);
    QFont bold = m_name->font();
    bold.setWeight(QFont::DemiBold);
    m_name->setFont(bold);
    m_name->hide();
    column->addWidget(m_name);
    column->addWidget(m_notice);
    column->addWidget(m_search->bar());
    column->addWidget(m_minimap);
    column->addWidget(m_canvas, 1);
    setFocusProxy(m_canvas);
    makeMenus();
    connectSelection();
    connectMarks();
    connect(m_search, &TimelineSearch::hitsChanged, m_minimap, &TimelineMinimap::setHits);
    watchReading();
    connect(m_canvas, &TimelineCanvas::rowLayoutChanged, this, &TimelineView::keepRowLayout);
    connect(m_canvas, &TimelineCanvas::viewChanged, this,
            [this] { m_minimap->setView(m_canvas->scene().axis.visible(), m_canvas->scene().headerWidth); });
    connect(m_minimap, &TimelineMinimap::rangeWanted, m_canvas, &TimelineCanvas::showRange);
}

void TimelineView::makeMenus()
{
    for (QMenu* menu : timelineMenus(*m_canvas, this)) {
        if (menu->actions().contains(timelineAction(*m_canvas, "editBookmark"))) {
            menu->addSeparator();
            QMenu* bookmarks = menu->addMenu(tr("Bookmarks"));
            bookmarks->setObjectName("bookmarks");
            connect(bookmarks, &QMenu::aboutToShow, this, [this, bookmarks] { m_bookmarks->list(bookmarks); });
        }
        addAction(menu->menuAction());
    }
}

void TimelineView::connectSelection()
{
    connect(m_canvas, &TimelineCanvas::sliceSelected, m_selection, &Selection::selectSlice);
    connect(m_canvas, &TimelineCanvas::slicesSelected, m_selection, &Selection::selectSlices);
    connect(m_canvas, &TimelineCanvas::slicesSelected, m_selection, &Selection::showDetails);
    connect(m_canvas, &TimelineCanvas::rangeSelected, m_selection, &Selection::selectRange);
    connect(m_canvas, &TimelineCanvas::sliceSelected, m_selection, &Selection::showDetails);
    connect(m_canvas, &TimelineCanvas::rangeSelected, m_selection, &Selection::showDetails);
    connect(m_canvas, &TimelineCanvas::selectionCleared, m_selection, &Selection::clear);
    connect(m_selection, &Selection::changed, this, &TimelineView::takeSelection);
    connect(m_selection, &Selection::markedChanged, this, [this] {
        m_canvas->setMarked(m_selection->marked());
        m_minimap->setMarked(m_selection->marked());
    });
    connect(m_selection, &Selection::showRequested, m_canvas, &TimelineCanvas::bringIntoView);
}

/// A disk may be removed while its trace is on screen; missing data is reported then, too.
void TimelineView::watchReading()
{
    auto* look = new QTimer(this);
    look->setInterval(kBetweenLooks);
    connect(look, &QTimer::timeout, this, [this] {
        if (const auto& trace = m_canvas->scene().trace)
            m_notice->setStats(trace->losses(), writerOf(*trace));
    });
    look->start();
}

void TimelineView::replaceTrace(std::shared_ptr<const profiler::Trace> trace, const std::filesystem::path& file)
{
    m_selection->clear(); // its ids are invalid in another trace
    m_selection->mark(nullptr);
    m_notice->setStats(trace->losses(), writerOf(*trace));
    takeRowLayout(*trace);
    m_minimap->setTrace(trace);
    m_canvas->setTrace(trace);
    m_bookmarks->replaceTrace(*trace, file);
    m_search->replaceTrace(std::move(trace));
}

void TimelineView::updateTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_notice->setStats(trace->losses(), writerOf(*trace));
    m_minimap->setTrace(trace);
    m_canvas->updateTrace(trace);
    if (!m_selection->slices().empty()) // the canvas may have dropped slices beyond the end of the earlier snapshot
        m_canvas->setSelectedSlices(m_selection->slices());
    m_bookmarks->updateTrace(*trace);
    m_search->updateTrace(std::move(trace));
}

void TimelineView::showSteps(std::shared_ptr<const Steps> steps)
{
    m_canvas->setSteps(std::move(steps));
}

void TimelineView::showGaps(std::shared_ptr<const DeviceGaps> gaps)
{
    m_canvas->setGaps(std::move(gaps));
}

/// Traces of one format have the same kinds of rows, so the user's layout of the last one is restored.
void TimelineView::takeRowLayout(const profiler::Trace& trace)
{
    const QString format = asQString(trace.format());
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
    m_canvas->setSelectedSlices(m_selection->slices());
    m_canvas->setSelectedRange(m_selection->range());
}

void TimelineView::setName(const QString& name)
{
    m_name->setText(name);
    m_name->setVisible(!name.isEmpty());
}

void TimelineView::openFind()
{
    m_search->open();
}

} // namespace app
