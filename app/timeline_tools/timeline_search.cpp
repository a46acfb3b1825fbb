#include "app/timeline_tools/timeline_search.h"

#include "app/tables/slice_details.h"
#include "app/timeline/timeline_actions.h"
#include "app/timeline/timeline_canvas.h"
#include "app/timeline_tools/find_bar.h"
#include "app/timeline_tools/timeline_finder.h"

#include <QAction>
#include <utility>

namespace app {

TimelineSearch::TimelineSearch(TimelineCanvas* canvas, QWidget* parent)
    : QObject(parent), m_canvas(canvas), m_bar(new FindBar(parent)), m_finder(new TimelineFinder(this))
{
    m_bar->hide();
    connect(canvas, &TimelineCanvas::findWanted, this, &TimelineSearch::open);
    connect(canvas, &TimelineCanvas::findNextWanted, this, [this] { step(true); });
    connect(canvas, &TimelineCanvas::findPreviousWanted, this, [this] { step(false); });
    connect(m_bar, &FindBar::next, this, [this] { step(true); });
    connect(m_bar, &FindBar::previous, this, [this] { step(false); });
    connect(m_bar, &FindBar::closed, this, &TimelineSearch::close);
    connect(m_bar, &FindBar::patternChanged, this, [this] { m_finder->setPattern(m_bar->pattern()); });
    connect(m_finder, &TimelineFinder::searching, m_bar, &FindBar::showSearching);
    connect(m_finder, &TimelineFinder::failed, m_bar, &FindBar::showError);
    connect(m_finder, &TimelineFinder::hitsChanged, this, [this](const std::shared_ptr<const FindHits>& hits) {
        m_bar->showHits(hits);
        m_canvas->setHits(hits);
        emit hitsChanged(hits);
    });
    connect(m_finder, &TimelineFinder::found, this, [this](const profiler::Slice& slice, quint64 number) {
        m_bar->showPlace(number);
        if (holds(*m_canvas->scene().trace, slice.id))
            m_canvas->selectAndShow(slice);
    });
    // The shortcuts also work in the search bar.
    for (const char* name : {"find", "findNext", "findPrevious", "goTo"})
        m_bar->addAction(timelineAction(*canvas, name));
}

void TimelineSearch::open()
{
    m_bar->open();
    if (!m_finder->hits())
        m_finder->setPattern(m_bar->pattern());
}

void TimelineSearch::close()
{
    m_bar->hide();
    m_finder->setPattern({});
    m_canvas->setFocus(Qt::OtherFocusReason);
}

void TimelineSearch::step(bool forward)
{
    if (!m_bar->isVisible())
        return open();
    const TimelineScene& scene = m_canvas->scene();
    m_finder->step(forward, scene.selected, scene.axis.visible().begin);
}

void TimelineSearch::replaceTrace(std::shared_ptr<const profiler::Trace> trace)
{
    if (!trace) {
        m_bar->hide();
        m_finder->setPattern({});
    }
    m_finder->setTrace(std::move(trace));
}

void TimelineSearch::updateTrace(std::shared_ptr<const profiler::Trace> trace)
{
    m_finder->updateTrace(std::move(trace));
}

} // namespace app
