#include "app/timeline/timeline_steps.h"

#include "app/look/number_format.h"
#include "app/tables/slice_details.h"
#include "app/timeline/slice_search.h"

#include <QCoreApplication>
#include <algorithm>
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

} // namespace app
