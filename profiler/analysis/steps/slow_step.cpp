#include "profiler/analysis/steps/slow_step.h"

#include "profiler/analysis/call_tree/call_views.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

namespace profiler::analysis {

namespace {

constexpr std::size_t kMostCauses = 3;
constexpr double kLeastShare = 0.05;       ///< of the excess: smaller causes are not worth a line
constexpr double kNamedShare = 0.5;        ///< of a part's excess: a name that explains it
constexpr double kUnusualRate = 2;         ///< times the usual rate of a counter
constexpr double kLeastSwitches = 10;      ///< per second: fewer do not delay a step
constexpr double kLeastFaults = 1000;      ///< per second: a fault takes about a microsecond
constexpr double kSlowFactor = 1.25;       ///< as in the rule step.variance
constexpr Nanoseconds kInterrupt{250'000}; ///< as in the rule step.variance

using PartTimes = std::array<Intervals, kStepTimeParts>;

Intervals& at(PartTimes& times, StepTimePart part)
{
    return times[static_cast<std::size_t>(part)];
}

/// Durations of the comparable steps: steady ones, or complete ones if none is steady.
std::vector<std::size_t> comparableSteps(const std::vector<Step>& steps)
{
    const bool anySteady = std::ranges::any_of(steps, isSteady);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (anySteady ? isSteady(steps[i]) : !steps[i].partial)
            found.push_back(i);
    return found;
}

Nanoseconds medianOf(const std::vector<std::size_t>& among, const std::vector<Nanoseconds>& values)
{
    std::vector<double> chosen;
    for (const std::size_t i : among)
        chosen.push_back(static_cast<double>(values[i].count()));
    return Nanoseconds{static_cast<std::int64_t>(percentile(std::move(chosen), 0.5))};
}

/// For each step: the time of a set within it.
std::vector<Nanoseconds> timeBySteps(const Intervals& set, const std::vector<Step>& steps)
{
    std::vector<Nanoseconds> times;
    for (const Step& step : steps) {
        Nanoseconds sum{0};
        for (const TimeRange& range : overlapping(set, step.range))
            sum += range.clippedTo(step.range).duration();
        times.push_back(sum);
    }
    return times;
}

/// The ranges on host threads of the steps' process that the scan does not distinguish.
void addHostRanges(const Trace& trace, const std::vector<Step>& steps, PartTimes& times)
{
    const Phases phases(trace);
    NameAnswers collects(trace, isGarbageCollection);
    NameAnswers compiles(trace, [](std::string_view name) { return name.ends_with("(dynamo_timed)"); });
    std::vector<TimeRange> validation, checkpoint, collection, loading;
    for (const Track& track : trace.tracks()) {
        if ((track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread) ||
            !isOfSameProcess(trace, track, steps))
            continue;
        forEachView(trace, track.id, [&](const SliceView& slice) {
            const ActivityKind kind = slice.kind();
            if (kind == ActivityKind::Phase) {
                const std::string_view name = phases.of(slice);
                if (name == phase::kValidation)
                    validation.push_back(slice.range());
                else if (name == phase::kCheckpoint)
                    checkpoint.push_back(slice.range());
            } else if (kind == ActivityKind::Other || kind == ActivityKind::UserAnnotation ||
                       kind == ActivityKind::Nvtx || kind == ActivityKind::CpuOp) {
                if (collects(slice.nameId()))
                    collection.push_back(slice.range());
                else if (compiles(slice.nameId()))
                    loading.push_back(slice.range());
            }
        });
    }
    at(times, StepTimePart::Validation) = unite(std::move(validation));
    at(times, StepTimePart::Checkpoint) = unite(std::move(checkpoint));
    at(times, StepTimePart::GarbageCollection) = unite(std::move(collection));
    at(times, StepTimePart::CodeLoading) = unite(std::move(loading));
}

/// The time of all steps, divided among the parts.
PartTimes divide(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps)
{
    PartTimes times;
    addHostRanges(trace, steps, times);
    at(times, StepTimePart::CodeLoading) =
        unite(std::move(at(times, StepTimePart::CodeLoading)), Intervals(scan.host.codeLoading));
    at(times, StepTimePart::DataWait) = scan.host.dataWaits;
    at(times, StepTimePart::Allocation) = scan.host.allocations;
    at(times, StepTimePart::Sync) = unite(Intervals(scan.host.syncs), Intervals(scan.host.blockingCopies));
    at(times, StepTimePart::HostWork) = unite(Intervals(scan.host.calls), Intervals(scan.host.work));
    for (const auto& [id, device] : scan.devices) {
        const auto add = [&](StepTimePart part, const Intervals& more) {
            at(times, part) = unite(std::move(at(times, part)), Intervals(more));
        };
        add(StepTimePart::Kernel, device.kernels);
        add(StepTimePart::Communication, device.communication);
        add(StepTimePart::Copy, device.copies);
        add(StepTimePart::Memset, device.memsets);
    }
    std::vector<TimeRange> marks;
    for (const Step& step : steps)
        marks.push_back(step.range);
    Intervals rest = unite(std::move(marks));
    for (std::size_t i = 0; i + 1 < kStepTimeParts; ++i) {
        Intervals mine = intersect(rest, times[i]);
        rest = subtract(rest, times[i]);
        times[i] = std::move(mine);
    }
    at(times, StepTimePart::Idle) = std::move(rest);
    return times;
}

TimeRange longestWithin(const Intervals& set, TimeRange window)
{
    TimeRange longest{window.begin, window.begin};
    for (const TimeRange& range : overlapping(set, window))
        if (const TimeRange part = range.clippedTo(window); part.duration() > longest.duration())
            longest = part;
    return longest;
}

/// A name that takes longer in the step than usual.
struct NamedExcess {
    std::string name;
    Nanoseconds excess{};
    double count = 0, usualCount = 0;
    std::optional<SliceId> longest;
};

/// The kernel name with the largest excess over its median.
NamedExcess slowestKernel(const Trace& trace, const std::vector<Step>& steps,
                          const std::vector<std::size_t>& comparable, std::size_t which)
{
    struct Totals {
        std::vector<Nanoseconds> times;
        std::vector<Nanoseconds> counts; ///< numbers, in the type that medianOf() takes
        SliceId longest;
        Nanoseconds longestTime{-1};
    };
    std::unordered_map<std::uint32_t, Totals> names;
    for (const Track& track : trace.tracks())
        if (isOfSameProcess(trace, track, steps))
            forEachViewOf(trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
                const TraceTime begin = kernel.begin();
                const auto after = std::upper_bound(steps.begin(), steps.end(), begin,
                                                    [](TraceTime t, const Step& step) { return t < step.range.begin; });
                if (after == steps.begin() || !std::prev(after)->range.contains(begin))
                    return;
                const auto step = static_cast<std::size_t>(after - steps.begin()) - 1;
                Totals& totals = names[kernel.nameId().value];
                totals.times.resize(steps.size());
                totals.counts.resize(steps.size());
                totals.times[step] += kernel.duration();
                ++totals.counts[step];
                if (step == which && kernel.duration() > totals.longestTime) {
                    totals.longestTime = kernel.duration();
                    totals.longest = kernel.id();
                }
            });
    NamedExcess slowest;
    for (const auto& [name, totals] : names) {
        const Nanoseconds excess = totals.times[which] - medianOf(comparable, totals.times);
        if (excess <= slowest.excess || totals.longestTime.count() < 0)
            continue;
        slowest = {std::string(trace.string(StringId{name})), excess, static_cast<double>(totals.counts[which].count()),
                   static_cast<double>(medianOf(comparable, totals.counts).count()), totals.longest};
    }
    return slowest;
}

/// The call with the largest excess of self time over a step of usual length.
NamedExcess slowestCall(const Trace& trace, const Step& step, const Step& usual, const std::stop_token& stop)
{
    const auto totalsOf = [&](const Step& one, CallTree& tree) {
        CallTreeOptions options;
        options.scope = scopeOf(trace, {one});
        tree = callTree(trace, options, stop);
        return callTotals(tree);
    };
    CallTree tree, usualTree;
    std::map<std::string_view, const CallTotal*> known;
    const std::vector<CallTotal> mine = totalsOf(step, tree), others = totalsOf(usual, usualTree);
    for (const CallTotal& other : others)
        known[other.name] = &other;
    NamedExcess slowest;
    for (const CallTotal& call : mine) {
        const auto other = known.find(call.name);
        const Nanoseconds excess = call.self - (other == known.end() ? Nanoseconds{0} : other->second->self);
        if (call.kind == ActivityKind::Step || isProfilerStep(call.name) || call.name == "ProfilerStep" ||
            excess <= slowest.excess)
            continue;
        slowest = {std::string(call.name), excess, static_cast<double>(call.calls),
                   other == known.end() ? 0 : static_cast<double>(other->second->calls), std::nullopt};
        if (call.longestTime.count() >= 0)
            slowest.longest = call.longest;
    }
    return slowest;
}

/// The mean of a counter in the step, and its median over all samples of the steps; empty if it is not unusually high.
std::optional<std::pair<double, double>> unusualRate(const Trace& trace, std::string_view counter, double least,
                                                     TimeRange step, const std::vector<Step>& steps)
{
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::Counter || track.name != counter)
            continue;
        std::vector<double> all, mine;
        TraceTime before = TraceTime::min(); // each sample covers the time since the previous one
        for (const CounterSample& sample : trace.counter(track.id)) {
            if (sample.time >= steps.front().range.begin && before < steps.back().range.end) {
                all.push_back(sample.value);
                if (before < step.end && sample.time > step.begin)
                    mine.push_back(sample.value);
            }
            before = sample.time;
        }
        if (mine.empty())
            return std::nullopt;
        const double rate = mean(mine), usual = percentile(std::move(all), 0.5);
        if (rate >= least && rate >= kUnusualRate * usual)
            return std::pair{rate, usual};
        return std::nullopt;
    }
    return std::nullopt;
}

class Explaining {
public:
    Explaining(const Trace& trace, const std::vector<Step>& steps, std::size_t which, const std::stop_token& stop)
        : m_trace(trace), m_steps(steps), m_which(which), m_stop(stop), m_comparable(comparableSteps(steps))
    {
    }

    SlowStep run(const ActivityScan& scan)
    {
        SlowStep result;
        result.step = m_steps[m_which];
        result.comparedWith = m_comparable.size();
        std::vector<Nanoseconds> durations;
        for (const Step& step : m_steps)
            durations.push_back(step.range.duration());
        result.usual = medianOf(m_comparable, durations);
        result.excess = std::max(Nanoseconds{0}, result.step.range.duration() - result.usual);
        result.unexplained = result.excess;
        if (m_comparable.empty() || result.excess.count() == 0)
            return result;
        m_usual = result.usual;
        m_parts = divide(m_trace, scan, m_steps);
        struct Excess {
            StepTimePart part{};
            Nanoseconds time{};
        };
        std::vector<Excess> excesses;
        for (std::size_t i = 0; i < kStepTimeParts; ++i) {
            const std::vector<Nanoseconds> times = timeBySteps(m_parts[i], m_steps);
            excesses.push_back({static_cast<StepTimePart>(i), times[m_which] - medianOf(m_comparable, times)});
        }
        std::stable_sort(excesses.begin(), excesses.end(),
                         [](const Excess& a, const Excess& b) { return a.time > b.time; });
        const auto least = static_cast<double>(result.excess.count()) * kLeastShare;
        for (const Excess& excess : excesses) {
            const Nanoseconds time = std::min(excess.time, result.unexplained);
            if (result.causes.size() == kMostCauses || static_cast<double>(time.count()) < least ||
                m_stop.stop_requested())
                break;
            result.causes.push_back(causeOf(excess.part, time, excess.time));
            result.unexplained -= time;
        }
        return result;
    }

private:
    SlowStepCause causeOf(StepTimePart part, Nanoseconds time, Nanoseconds whole) const
    {
        SlowStepCause cause;
        cause.part = part;
        cause.excess = time;
        cause.where = longestWithin(m_parts[static_cast<std::size_t>(part)], m_steps[m_which].range);
        const MessageParameter more{"time", toUs(time), timeText(toUs(time))};
        switch (part) {
        case StepTimePart::Validation:
            cause.reason = message<"slow_step.validation", "Validation ran in this step: {time}.">({more});
            break;
        case StepTimePart::Checkpoint:
            cause.reason = message<"slow_step.checkpoint", "A checkpoint was saved in this step: {time}.">({more});
            break;
        case StepTimePart::GarbageCollection:
            cause.reason = message<"slow_step.garbage_collection", "Python collected garbage for {time}.">({more});
            break;
        case StepTimePart::DataWait:
            cause.reason = message<"slow_step.data_wait", "It waited {time} longer for data.">({more});
            break;
        case StepTimePart::CodeLoading:
            cause.reason =
                message<"slow_step.code_loading", "Loading or compiling kernel code took {time} more.">({more});
            break;
        case StepTimePart::Allocation:
            cause.reason = message<"slow_step.allocation", "Allocating and freeing memory took {time} more.">({more});
            break;
        case StepTimePart::Communication:
            cause.reason =
                message<"slow_step.communication", "Communication with other ranks took {time} more.">({more});
            break;
        case StepTimePart::Copy:
            cause.reason = message<"slow_step.copies", "Copies took {time} more.">({more});
            break;
        case StepTimePart::Memset:
            cause.reason = message<"slow_step.memsets", "Memsets took {time} more.">({more});
            break;
        case StepTimePart::Sync:
            cause.reason =
                message<"slow_step.sync", "The CPU waited {time} longer for the GPU while the GPU did nothing.">(
                    {more});
            break;
        case StepTimePart::Kernel:
            nameKernel(cause, more, whole);
            break;
        case StepTimePart::HostWork:
            nameHostWork(cause, more, whole);
            break;
        case StepTimePart::Idle:
            if (!nameContention(cause, more))
                cause.reason = message<"slow_step.idle", "Nothing is recorded for {time} more than usual.">({more});
            break;
        }
        return cause;
    }

    void nameKernel(SlowStepCause& cause, const MessageParameter& more, Nanoseconds whole) const
    {
        const NamedExcess kernel = slowestKernel(m_trace, m_steps, m_comparable, m_which);
        if (!isNamed(kernel, whole)) {
            cause.reason = message<"slow_step.kernels", "Kernels ran {time} longer.">({more});
            return;
        }
        cause.slice = kernel.longest;
        cause.where = m_trace.slice(*kernel.longest).range();
        const MessageParameter name{"kernel", kernel.name};
        cause.reason = kernel.count > kernel.usualCount
                           ? message<"slow_step.more_kernels",
                                     "Kernels ran {time} longer: {kernel} ran {count}× instead of {usual}×.">(
                                 {more,
                                  name,
                                  {"count", kernel.count, countText(kernel.count)},
                                  {"usual", kernel.usualCount, countText(kernel.usualCount)}})
                           : message<"slow_step.longer_kernels", "Kernels ran {time} longer, most of it in {kernel}.">(
                                 {more, name});
    }

    void nameHostWork(SlowStepCause& cause, const MessageParameter& more, Nanoseconds whole) const
    {
        if (nameContention(cause, more))
            return;
        const NamedExcess call = slowestCall(m_trace, m_steps[m_which], usualStep(), m_stop);
        if (!isNamed(call, whole)) {
            cause.reason =
                message<"slow_step.host_work", "The CPU worked {time} longer while the GPU did nothing.">({more});
            return;
        }
        cause.slice = call.longest;
        cause.reason = message<"slow_step.host_call",
                               "The CPU worked {time} longer while the GPU did nothing, most of it in {call}.">(
            {more, {"call", call.name}});
    }

    /// Names preemption or page faults if a counter shows them.
    bool nameContention(SlowStepCause& cause, const MessageParameter& more) const
    {
        const TimeRange range = m_steps[m_which].range;
        const auto rates = [](const std::pair<double, double>& found) {
            return std::pair{MessageParameter{"rate", std::round(found.first), countText(std::round(found.first))},
                             MessageParameter{"usual", std::round(found.second), countText(std::round(found.second))}};
        };
        if (const auto switches =
                unusualRate(m_trace, "involuntary context switches", kLeastSwitches, range, m_steps)) {
            const auto [rate, usual] = rates(*switches);
            cause.reason = message<"slow_step.contention",
                                   "The CPU took {time} longer: other programs preempted its threads {rate} times per "
                                   "second instead of {usual}.">({more, rate, usual});
            return true;
        }
        for (const std::string_view counter : {"page faults from disk", "page faults"})
            if (const auto faults = unusualRate(m_trace, counter, kLeastFaults, range, m_steps)) {
                const auto [rate, usual] = rates(*faults);
                cause.reason = message<"slow_step.page_faults",
                                       "The CPU took {time} longer, with {rate} page faults per second instead of "
                                       "{usual}.">({more, rate, usual});
                return true;
            }
        return false;
    }

    /// The comparable step whose duration is closest to the median.
    [[nodiscard]] const Step& usualStep() const
    {
        const auto distance = [&](std::size_t i) {
            const Nanoseconds away = m_steps[i].range.duration() - m_usual;
            return away.count() < 0 ? -away : away;
        };
        return m_steps[*std::ranges::min_element(m_comparable, {}, distance)];
    }

    static bool isNamed(const NamedExcess& name, Nanoseconds whole)
    {
        return name.longest &&
               static_cast<double>(name.excess.count()) >= kNamedShare * static_cast<double>(whole.count());
    }

    const Trace& m_trace;
    const std::vector<Step>& m_steps;
    std::size_t m_which;
    const std::stop_token& m_stop;
    std::vector<std::size_t> m_comparable;
    Nanoseconds m_usual{};
    PartTimes m_parts;
};

} // namespace

SlowStep whyStepIsSlow(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps, std::size_t which,
                       const std::stop_token& stop)
{
    return Explaining(trace, steps, which, stop).run(scan);
}

std::vector<std::size_t> slowSteps(const std::vector<Step>& steps)
{
    std::vector<double> durations;
    for (const Step& step : steps)
        if (isSteady(step))
            durations.push_back(static_cast<double>(step.range.duration().count()));
    const double median = percentile(std::move(durations), 0.5);
    const double limit = std::max(kSlowFactor * median, median + static_cast<double>(kInterrupt.count()));
    std::vector<std::size_t> slow;
    for (std::size_t i = 0; i < steps.size(); ++i)
        if (isSteady(steps[i]) && static_cast<double>(steps[i].range.duration().count()) > limit)
            slow.push_back(i);
    return slow;
}

} // namespace profiler::analysis
