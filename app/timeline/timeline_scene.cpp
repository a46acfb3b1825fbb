#include "app/timeline/timeline_scene.h"

#include "app/look/display_text.h"
#include "app/tables/slice_details.h"
#include "app/timeline/slice_search.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <optional>

namespace app {

using profiler::ActivityKind;
using profiler::Nanoseconds;
using profiler::Slice;
using profiler::Trace;
using profiler::TraceTime;
using profiler::analysis::Step;

namespace {

constexpr int kMostLooked = 500; ///< maximum slices per call; the next snapshot continues

QString text(const char* source)
{
    return QCoreApplication::translate("Timeline", source);
}

/// The step at a time, or the last one before it; null before the first.
const Step* stepBefore(const Steps& steps, TraceTime time)
{
    const auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                        [](TraceTime t, const Step& step) { return t < step.range.begin; });
    return after == steps.begin() ? nullptr : &*std::prev(after);
}

/// Number of steps before a time, with a fraction inside a step. Does not use step numbers, which may restart each
/// epoch or have gaps.
std::optional<double> position(const Steps& steps, TraceTime time)
{
    const Step* step = stepBefore(steps, time);
    if (!step || step->range.empty())
        return std::nullopt;
    const double inside =
        static_cast<double>((time - step->range.begin).count()) / static_cast<double>(step->range.duration().count());
    return static_cast<double>(step - steps.data()) + std::min(inside, 1.0);
}

Step stepOf(const Slice& mark)
{
    Step step;
    step.index = mark.args.value;
    step.range = mark.range();
    step.slice = mark.id;
    step.partial = mark.is(profiler::slice_flag::kOpen);
    return step;
}

/// A position before all slices of the main thread, so that the next slice is its first.
std::optional<Slice> beforeFirst(const Trace& trace)
{
    for (const profiler::Track& track : trace.tracks()) {
        if (track.kind != profiler::TrackKind::MainThread)
            continue;
        Slice place;
        place.id.track = track.id;
        place.begin = trace.range().begin - Nanoseconds{1};
        return place;
    }
    return std::nullopt;
}

constexpr double kMostPinned = 0.7; ///< maximum share of the height for pinned rows; if they need more, they scroll
                                    ///< like others

constexpr double kReach = 3;   ///< tolerance in pixels around a slice
constexpr int kHeaderEdge = 4; ///< tolerance in pixels around the header's edge for resizing
constexpr int kRowEdge = 3;    ///< tolerance in pixels above the lower edge of a row for resizing

} // namespace

std::span<const Step> stepsIn(const Steps& steps, profiler::TimeRange window)
{
    const auto first = std::partition_point(steps.begin(), steps.end(),
                                            [&](const Step& step) { return step.range.end <= window.begin; });
    const auto last =
        std::partition_point(first, steps.end(), [&](const Step& step) { return step.range.begin < window.end; });
    return {first, last};
}

QString stepTitle(const Step& step)
{
    return text("step %1").arg(formatCount(step.index));
}

QString stepPlace(const Steps& steps, TraceTime time)
{
    const Step* step = stepBefore(steps, time);
    return step ? text("%1 + %2").arg(stepTitle(*step), formatDuration(time - step->range.begin)) : QString();
}

QString stepSpan(const Steps& steps, profiler::TimeRange range)
{
    const auto begin = position(steps, range.begin), end = position(steps, range.end);
    if (!begin || !end)
        return {};
    return text("%1 steps").arg(formatSignificant(*end - *begin, kPlainCounts));
}

void KnownSteps::clear()
{
    m_steps.reset();
    m_own.reset();
}

void KnownSteps::take(const Trace& trace, std::shared_ptr<const Steps> found)
{
    const bool tooEarly = trace.captureStats().live && found && found->empty();
    if (found && !tooEarly) {
        m_steps = std::move(found);
        m_own.reset();
    }
    follow(trace);
}

void KnownSteps::follow(const Trace& trace)
{
    const bool any = m_steps && !m_steps->empty();
    if (!trace.captureStats().live || (any && (m_steps->back().found || !holds(trace, m_steps->back().slice))))
        return;
    std::optional<Slice> place = any ? trace.slice(m_steps->back().slice) : beforeFirst(trace);
    if (!place || (any && place->kind != ActivityKind::Step))
        return;
    Steps added;
    const bool wasOpen = any && place->end() != m_steps->back().range.end;
    if (wasOpen)
        added.push_back(stepOf(*place));
    for (int i = 0; i < kMostLooked; ++i) {
        place = nextSlice(trace, *place);
        if (!place)
            break;
        if (place->kind == ActivityKind::Step)
            added.push_back(stepOf(*place));
    }
    if (added.empty())
        return;
    if (!m_own)
        m_steps = m_own = any ? std::make_shared<Steps>(*m_steps) : std::make_shared<Steps>();
    if (wasOpen)
        m_own->pop_back();
    m_own->insert(m_own->end(), added.begin(), added.end());
}

int TimelineScene::pinnedHeight() const
{
    const int wanted = rows.pinnedHeight();
    return wanted <= fullWidth().height() * kMostPinned ? wanted : 0;
}

std::optional<profiler::TimeRange> TimelineScene::selectedTime() const
{
    if (selected)
        return selected->range();
    if (several.empty())
        return range;
    profiler::TimeRange all = several.front().range();
    for (const profiler::Slice& slice : several)
        all = {std::min(all.begin, slice.begin), std::max(all.end, slice.end())};
    return all;
}

QRect TimelineScene::pinnedRect() const
{
    QRect rect = fullWidth();
    rect.setHeight(pinnedHeight());
    return rect;
}

int TimelineScene::rowsYAt(double y) const
{
    const int below = static_cast<int>(y) - kRulerHeight;
    return below < pinnedHeight() ? below : below + scrollY;
}

bool TimelineScene::inView(const TrackRow& row) const
{
    const QRect part = row.pinned && pinnedHeight() > 0 ? pinnedRect() : scrolledRect();
    const int top = topOf(row);
    return top <= part.bottom() && top + row.height > part.top();
}

QRectF TimelineScene::rectOf(const profiler::Slice& slice) const
{
    const int index = rows.rowOf(slice.id.track);
    if (index < 0)
        return {};
    const TrackRow& row = rows.at(index);
    const double left = xOf(slice.begin);
    const double width = std::max(1.0, xOf(slice.end()) - left);
    if (row.kind == TrackRow::Kind::Track && row.showsDepth(slice.depth))
        return {left, static_cast<double>(yOf(row, row.laneTop(slice.depth))), width, row.laneHeight - 1.0};
    return {left, static_cast<double>(topOf(row)), width, static_cast<double>(row.height)};
}

const CounterSeries& TimelineScene::samples(profiler::TrackId counter)
{
    CounterSeries& series = counters[counter];
    series.read(*trace, counter);
    return series;
}

std::optional<Slice> sliceAt(const TimelineScene& scene, QPointF at)
{
    if (scene.isEmpty() || !scene.lanesRect().contains(at.toPoint()))
        return std::nullopt;
    const auto lane = scene.rows.laneAt(scene.rowsYAt(at.y()));
    if (!lane)
        return std::nullopt;
    const auto reach = Nanoseconds{static_cast<std::int64_t>(std::ceil(kReach * scene.axis.nsPerPixel()))};
    return nearestSlice(*scene.trace, lane->track, lane->depth, scene.timeAt(at.x()), reach);
}

int rowAt(const TimelineScene& scene, double y)
{
    return y < TimelineScene::kRulerHeight ? -1 : scene.rows.rowAt(scene.rowsYAt(y));
}

int rowWithEdgeAt(const TimelineScene& scene, QPointF at)
{
    if (scene.isEmpty() || at.x() >= scene.headerWidth)
        return -1;
    const int row = rowAt(scene, at.y());
    if (row < 0 || !scene.rows.resizable(row))
        return -1;
    return scene.rows.at(row).bottom() - scene.rowsYAt(at.y()) <= kRowEdge ? row : -1;
}

bool isHeaderEdgeAt(const TimelineScene& scene, QPointF at)
{
    return std::abs(at.x() - scene.headerWidth) <= kHeaderEdge;
}

} // namespace app
