#include "app/widgets/timeline_marks.h"

#include "app/widgets/number_format.h"
#include "app/widgets/slice_search.h"

#include <QCoreApplication>
#include <algorithm>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::Trace;
using profiler::TraceTime;

namespace {

QString text(const char* source)
{
    return QCoreApplication::translate("Timeline", source);
}

/// The step that a time lies in, or the last one before it.
std::optional<Slice> stepAt(const Trace& trace, profiler::TrackId steps, TraceTime time)
{
    const auto isStep = [](const std::optional<Slice>& slice) {
        return slice && slice->kind == profiler::ActivityKind::Step;
    };
    auto found = trace.at(steps, 0, time);
    if (!found) {
        Slice here;
        here.id.track = steps;
        here.begin = time;
        found = previousSlice(trace, here);
    }
    return isStep(found) ? found : std::nullopt;
}

/// Steps counted from the first one, with a fraction inside one.
std::optional<double> position(const Trace& trace, profiler::TrackId steps, TraceTime time)
{
    const auto step = stepAt(trace, steps, time);
    if (!step || step->duration.count() <= 0)
        return std::nullopt;
    const double inside =
        static_cast<double>((time - step->begin).count()) / static_cast<double>(step->duration.count());
    return static_cast<double>(step->args.value) + std::min(inside, 1.0);
}

} // namespace

std::vector<TimelineMark> TimelineMarks::bookmarks() const
{
    std::vector<TimelineMark> found;
    std::copy_if(m_marks.begin(), m_marks.end(), std::back_inserter(found), [](const auto& m) { return m.bookmark; });
    return found;
}

void TimelineMarks::setBookmarks(const std::vector<TimelineMark>& bookmarks)
{
    std::erase_if(m_marks, [](const TimelineMark& mark) { return mark.bookmark; });
    for (TimelineMark mark : bookmarks) {
        mark.bookmark = true;
        set(mark);
    }
}

const TimelineMark* TimelineMarks::near(TraceTime time, Nanoseconds reach) const
{
    const TimelineMark* best = nullptr;
    const auto distance = [time](const TimelineMark& m) { return m.time < time ? time - m.time : m.time - time; };
    for (const TimelineMark& mark : m_marks)
        if (distance(mark) <= reach && (!best || distance(mark) < distance(*best)))
            best = &mark;
    return best;
}

const TimelineMark* TimelineMarks::nextBookmark(TraceTime after) const
{
    const auto found =
        std::find_if(m_marks.begin(), m_marks.end(), [&](const auto& m) { return m.bookmark && m.time > after; });
    return found == m_marks.end() ? nullptr : &*found;
}

const TimelineMark* TimelineMarks::previousBookmark(TraceTime before) const
{
    const auto found =
        std::find_if(m_marks.rbegin(), m_marks.rend(), [&](const auto& m) { return m.bookmark && m.time < before; });
    return found == m_marks.rend() ? nullptr : &*found;
}

void TimelineMarks::set(const TimelineMark& mark)
{
    remove(mark.time);
    const auto after = std::upper_bound(m_marks.begin(), m_marks.end(), mark.time,
                                        [](TraceTime time, const TimelineMark& m) { return time < m.time; });
    m_marks.insert(after, mark);
    if (!mark.bookmark)
        m_origin = mark.time;
}

void TimelineMarks::remove(TraceTime time)
{
    std::erase_if(m_marks, [time](const TimelineMark& mark) { return mark.time == time; });
    if (m_origin == time) {
        m_origin.reset();
        for (const TimelineMark& mark : m_marks)
            if (!mark.bookmark)
                m_origin = mark.time;
    }
}

bool TimelineMarks::clearPlain()
{
    m_origin.reset();
    return std::erase_if(m_marks, [](const TimelineMark& mark) { return !mark.bookmark; }) > 0;
}

void TimelineMarks::clear()
{
    m_marks.clear();
    m_origin.reset();
}

QString stepPlace(const Trace& trace, profiler::TrackId steps, TraceTime time)
{
    const auto step = stepAt(trace, steps, time);
    if (!step)
        return {};
    return text("step %1 + %2").arg(formatCount(step->args.value), formatDuration(time - step->begin));
}

QString stepSpan(const Trace& trace, profiler::TrackId steps, profiler::TimeRange range)
{
    const auto begin = position(trace, steps, range.begin), end = position(trace, steps, range.end);
    if (!begin || !end || *end < *begin)
        return {};
    return text("%1 steps").arg(formatSignificant(*end - *begin, kPlainCounts));
}

} // namespace app
