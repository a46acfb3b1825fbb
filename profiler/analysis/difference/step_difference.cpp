#include "profiler/analysis/difference/step_difference.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

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
                trace.forEach(track.id, onHost(step), [&](const Slice& slice) {
                    if (onHost(step).contains(slice.begin))
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

using Row = StepDifference::Row;

struct Part {
    std::string_view name;
    Nanoseconds StepParts::*time;
};
constexpr std::array<Part, 8> kParts = {{{phase::kDataWait, &StepParts::dataWait},
                                         {phase::kCopy, &StepParts::copy},
                                         {phase::kZeroGrad, &StepParts::zeroGrad},
                                         {phase::kForward, &StepParts::forward},
                                         {phase::kBackward, &StepParts::backward},
                                         {phase::kOptimizer, &StepParts::optimizer},
                                         {phase::kMetrics, &StepParts::metrics},
                                         {"other", &StepParts::other}}};

struct Total {
    std::int64_t count = 0;
    Nanoseconds time{}, longestTime{-1};
    std::optional<SliceId> longest;

    void add(SliceId slice, Nanoseconds counted, Nanoseconds duration)
    {
        ++count;
        time += counted;
        if (duration > longestTime) {
            longestTime = duration;
            longest = slice;
        }
    }
};

/// Everything in one step, by kind and name.
using Totals = std::map<std::pair<ActivityKind, std::string>, Total, std::less<>>;

class StepTotals {
public:
    StepTotals(const Trace& trace, const Step& step) : m_trace(trace), m_step(step) {}

    Totals run()
    {
        addPhases();
        addOperators();
        forEachDeviceWorkOf(
            m_trace, m_step, [&](const Track& track) { return isOfSameProcess(m_trace, track, {m_step}); }, {},
            [&](const Slice& work) { sumOf(work.kind, work.name).add(work.id, work.duration, work.duration); });
        for (const auto& [key, total] : m_byName) {
            const auto [kind, name] = key;
            m_totals[{kind, std::string(m_trace.string(StringId{name}))}] = total;
        }
        return std::move(m_totals);
    }

private:
    Total& sumOf(ActivityKind kind, StringId name) { return m_byName[{kind, name.value}]; }

    void addPhases()
    {
        for (const Part& part : kParts)
            if (const Nanoseconds time = m_step.parts.*part.time; time.count() > 0) {
                Total& total = m_totals[{ActivityKind::Phase, std::string(part.name)}];
                total.count = 1;
                total.time = time;
            }
        const Phases names(m_trace);
        for (const Track& track : m_trace.tracks())
            if (isHostTrack(track))
                m_trace.forEach(track.id, onHost(m_step), [&](const Slice& slice) {
                    const std::string_view name = names.of(slice);
                    if (name.empty() || !onHost(m_step).contains(slice.begin))
                        return true;
                    const auto found = m_totals.find(std::pair{ActivityKind::Phase, std::string(name)});
                    if (found != m_totals.end() && slice.duration > found->second.longestTime) {
                        found->second.longestTime = slice.duration;
                        found->second.longest = slice.id;
                    }
                    return true;
                });
    }

    void addOperators()
    {
        for (const Track& track : m_trace.tracks()) {
            if (!isHostTrack(track))
                continue;
            std::vector<Slice> ops;
            m_trace.forEach(track.id, onHost(m_step), [&](const Slice& slice) {
                if (slice.kind == ActivityKind::CpuOp && onHost(m_step).contains(slice.begin))
                    ops.push_back(slice);
                return true;
            });
            sortByNesting(ops);
            forEachNested(ops, [&](const Nested& op) {
                sumOf(ActivityKind::CpuOp, op.slice->name).add(op.slice->id, op.self, op.slice->duration);
            });
        }
    }

    [[nodiscard]] bool isHostTrack(const Track& track) const
    {
        return (track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread) &&
               isOfSameProcess(m_trace, track, {m_step});
    }

    const Trace& m_trace;
    const Step& m_step;
    std::map<std::pair<ActivityKind, std::uint32_t>, Total> m_byName; ///< by kind and string id
    Totals m_totals;
};

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

namespace {

std::optional<std::size_t> firstWith(const std::vector<Step>& steps, const std::function<bool(const Step&)>& is)
{
    const auto found = std::ranges::find_if(steps, is);
    return found == steps.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - steps.begin()));
}

} // namespace

std::optional<std::size_t> stepContaining(const std::vector<Step>& steps, TraceTime time)
{
    return firstWith(steps, [time](const Step& step) { return step.range.contains(time); });
}

std::optional<std::size_t> stepOfSlice(const Trace& trace, const std::vector<Step>& steps, const Slice& slice)
{
    const TraceTime time = isDeviceWork(slice.kind) ? launchTime(trace, slice) : slice.begin;
    return firstWith(steps, [time](const Step& step) { return onHost(step).contains(time); });
}

void forEachDeviceWorkOf(const Trace& trace, const Step& step, const std::function<bool(const Track&)>& wanted,
                         std::optional<StringId> name, const std::function<void(const Slice&)>& visit)
{
    const TimeRange mark = onHost(step);
    const TimeRange window{mark.begin, std::max(step.range.end, mark.end + kMostDelay * mark.duration())};
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream && wanted(track))
            trace.forEach(track.id, window, [&](const Slice& slice) {
                if (isDeviceWork(slice.kind) && (!name || slice.name == *name) &&
                    mark.contains(launchTime(trace, slice)))
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

StepDifference stepDifference(const Trace& a, const Step& stepA, const Trace& b, const Step& stepB)
{
    std::map<std::pair<ActivityKind, std::string>, Row> rows;
    const auto rowOf = [&](const std::pair<ActivityKind, std::string>& key) -> Row& {
        Row& row = rows[key];
        row.kind = key.first;
        row.name = key.second;
        return row;
    };
    for (const auto& [key, total] : StepTotals(a, stepA).run()) {
        Row& row = rowOf(key);
        row.countA = total.count;
        row.a = total.time;
        row.longestA = total.longest;
    }
    for (const auto& [key, total] : StepTotals(b, stepB).run()) {
        Row& row = rowOf(key);
        row.countB = total.count;
        row.b = total.time;
        row.longestB = total.longest;
    }
    StepDifference difference{stepA, stepB, {}};
    for (auto& [key, row] : rows)
        difference.rows.push_back(std::move(row));
    std::ranges::stable_sort(difference.rows, [](const Row& x, const Row& y) {
        return std::chrono::abs(x.change()) > std::chrono::abs(y.change());
    });
    return difference;
}

} // namespace profiler::analysis
