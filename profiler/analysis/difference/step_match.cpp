#include "profiler/analysis/difference/step_match.h"

#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <tuple>

namespace profiler::analysis {

namespace {

constexpr int kMostDelay = 2; ///< steps by which the host runs ahead of a device; PyTorch's queue holds about 1,000
                              ///< kernels, rarely more than a step

/// Start of the call that launched device work; the work's own start if the call is not recorded.
TraceTime launchTime(const Trace& trace, const Slice& work)
{
    for (const Flow& flow : trace.flowsOf(work.id))
        if (flow.kind == FlowKind::Launch && flow.to == work.id)
            return trace.slice(flow.from).begin;
    return work.begin;
}

bool correspond(const Track& a, const Track& b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case TrackKind::Stream:
    case TrackKind::Annotation:
        return a.device == b.device;
    case TrackKind::LoaderWorker:
    case TrackKind::NvtxDomain:
        return a.name == b.name;
    default:
        return true;
    }
}

/// The slices of a step with this kind and name on tracks that correspond to `like`, by start.
std::vector<Slice> sameInStep(const Trace& trace, const Step& step, const Track& like, ActivityKind kind,
                              std::string_view name)
{
    std::vector<Slice> found;
    const auto id = trace.findString(name);
    if (!id)
        return found;
    const auto wanted = [&](const Track& track) {
        return correspond(track, like) && isOfSameProcess(trace, track, {step});
    };
    const auto take = [&](const Slice& slice) {
        if (slice.kind == kind && slice.name == *id)
            found.push_back(slice);
    };
    if (isDeviceWork(kind)) {
        forEachDeviceWorkOf(trace, step, wanted, id, take);
    } else {
        for (const Track& track : trace.tracks())
            if (wanted(track))
                trace.forEach(track.id, step.range, [&](const Slice& slice) {
                    if (step.range.contains(slice.begin))
                        take(slice);
                    return true;
                });
    }
    std::ranges::sort(found, [](const Slice& a, const Slice& b) {
        return std::tuple{a.begin, a.depth, a.id.track.value, a.id.ordinal} <
               std::tuple{b.begin, b.depth, b.id.track.value, b.id.ordinal};
    });
    return found;
}

} // namespace

StepMatch matchSteps(const std::vector<Step>& steps, const std::vector<Step>& other)
{
    const auto numbers = [](const std::vector<Step>& of) {
        std::vector<std::int64_t> sorted;
        for (const Step& step : of)
            sorted.push_back(step.index);
        std::ranges::sort(sorted);
        return sorted;
    };
    std::vector<std::int64_t> common;
    std::ranges::set_intersection(numbers(steps), numbers(other), std::back_inserter(common));
    return {common.empty() ? StepMatch::By::Position : StepMatch::By::Number, 0};
}

StepMatch reversed(const StepMatch& match)
{
    return {match.by, -match.offset};
}

std::optional<std::size_t> matchedStep(const StepMatch& match, const std::vector<Step>& steps, std::size_t position,
                                       const std::vector<Step>& other)
{
    if (position >= steps.size())
        return std::nullopt;
    if (match.by == StepMatch::By::Number) {
        const auto found = std::ranges::find(other, steps[position].index, &Step::index);
        return found == other.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - other.begin()));
    }
    const auto at = static_cast<std::ptrdiff_t>(position) + match.offset;
    return at < 0 || at >= std::ssize(other) ? std::nullopt : std::optional(static_cast<std::size_t>(at));
}

std::optional<std::size_t> stepContaining(const std::vector<Step>& steps, TraceTime time)
{
    const auto found = std::ranges::find_if(steps, [&](const Step& step) { return step.range.contains(time); });
    return found == steps.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - steps.begin()));
}

std::optional<std::size_t> stepOfSlice(const Trace& trace, const std::vector<Step>& steps, const Slice& slice)
{
    return stepContaining(steps, isDeviceWork(slice.kind) ? launchTime(trace, slice) : slice.begin);
}

void forEachDeviceWorkOf(const Trace& trace, const Step& step, const std::function<bool(const Track&)>& wanted,
                         std::optional<StringId> name, const std::function<void(const Slice&)>& visit)
{
    const TimeRange window{step.range.begin, step.range.end + kMostDelay * step.range.duration()};
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream && wanted(track))
            trace.forEach(track.id, window, [&](const Slice& slice) {
                if (isDeviceWork(slice.kind) && (!name || slice.name == *name) &&
                    step.range.contains(launchTime(trace, slice)))
                    visit(slice);
                return true;
            });
}

std::optional<Slice> counterpart(const Trace& trace, const Step& step, const Slice& slice, const Trace& other,
                                 const Step& otherStep)
{
    // PyTorch's marks have different names: "ProfilerStep#7".
    if (slice.id == step.slice && !step.found && !otherStep.found)
        return other.slice(otherStep.slice);
    const Track& track = trace.track(slice.id.track);
    const std::string_view name = trace.name(slice);
    const std::vector<Slice> here = sameInStep(trace, step, track, slice.kind, name);
    const auto mine = std::ranges::find(here, slice.id, &Slice::id);
    if (mine == here.end())
        return std::nullopt;
    const std::vector<Slice> there = sameInStep(other, otherStep, track, slice.kind, name);
    const auto occurrence = static_cast<std::size_t>(mine - here.begin());
    return occurrence < there.size() ? std::optional(there[occurrence]) : std::nullopt;
}

} // namespace profiler::analysis
