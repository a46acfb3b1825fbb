#include "profiler/analysis/operators/op_costs.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

namespace {

/// A named range; lists of these are disjoint and sorted by start.
struct NamedRange {
    TimeRange range;
    std::string_view name;
};

const NamedRange* rangeAt(const std::vector<NamedRange>& ranges, TraceTime time)
{
    const auto after = std::upper_bound(ranges.begin(), ranges.end(), time,
                                        [](TraceTime t, const NamedRange& row) { return t < row.range.begin; });
    return after != ranges.begin() && std::prev(after)->range.contains(time) ? &*std::prev(after) : nullptr;
}

/// Outermost phases of the steps' thread.
std::vector<NamedRange> outermostPhases(const Trace& trace, const Phases& names, TrackId track)
{
    std::vector<NamedRange> phases;
    for (const Slice& slice : sortedWhere(trace, track, [&](const SliceView& s) { return !names.of(s).empty(); }))
        if (phases.empty() || slice.begin >= phases.back().range.end)
            phases.push_back({slice.range(), names.of(slice)});
    return phases;
}

struct Sum {
    StringId name;
    std::string_view phase;
    std::int64_t count = 0;
    Nanoseconds self{}, total{}, longestTime{-1};
    SliceId longest;
};

/// Sums the ops of one trace by (name, phase).
class Summing {
public:
    Summing(const Trace& trace, const std::vector<Step>& steps)
        : m_trace(trace), m_names(trace), m_open(trace.stringCount())
    {
        const bool steadyHaveOps =
            std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.opsRecorded && isSteady(s); });
        for (const Step& step : steps)
            if (step.opsRecorded && !step.partial && (!steadyHaveOps || isSteady(step)))
                m_steps.push_back({onHost(step), {}});
        if (!steps.empty())
            m_phases = outermostPhases(trace, m_names, steps.front().slice.track);
    }

    void addTrack(TrackId track)
    {
        const std::vector<SliceBrief> slices = briefsWhere(m_trace, track, [&](const SliceView& slice) {
            return slice.kind() == ActivityKind::CpuOp || !m_names.of(slice).empty();
        });
        forEachNested(
            std::span<const SliceBrief>(slices),
            [&](const NestedBrief& nested) {
                leave(*nested.slice);
                if (nested.slice->kind == ActivityKind::CpuOp)
                    addOp(nested);
            },
            [&](const SliceBrief& slice) { enter(slice); });
    }

    OpCosts result() const
    {
        OpCosts costs;
        costs.stepsWithOps = static_cast<std::int64_t>(m_steps.size());
        for (const Sum& sum : m_sums) {
            const bool validation = sum.phase == phase::kValidation;
            const double passes =
                validation ? static_cast<double>(m_validations.size()) : static_cast<double>(m_steps.size());
            costs.ops.push_back({.name = std::string(m_trace.string(sum.name)),
                                 .phase = std::string(sum.phase),
                                 .count = sum.count,
                                 .countPerStep = static_cast<double>(sum.count) / passes,
                                 .selfUsPerStep = toUs(sum.self) / passes,
                                 .totalUsPerStep = toUs(sum.total) / passes,
                                 .longest = sum.longest});
        }
        std::stable_sort(costs.ops.begin(), costs.ops.end(), [](const OpCost& a, const OpCost& b) {
            return std::tie(b.selfUsPerStep, a.name, a.phase) < std::tie(a.selfUsPerStep, b.name, b.phase);
        });
        return costs;
    }

private:
    /// Keeps track of the enclosing slices during the walk; searching them for each slice would cost their depth.
    void enter(const SliceBrief& slice)
    {
        const std::string_view outer = m_around.empty() ? std::string_view() : m_around.back();
        const std::string_view name = m_names.of(slice.kind, slice.name);
        m_around.push_back(name.empty() || outer == phase::kValidation ? outer : name);
        m_open[slice.name.value] += slice.kind == ActivityKind::CpuOp;
    }
    void leave(const SliceBrief& slice)
    {
        m_around.pop_back();
        m_open[slice.name.value] -= slice.kind == ActivityKind::CpuOp;
    }

    [[nodiscard]] std::string_view phaseOf(const SliceBrief& slice) const
    {
        if (!m_around.empty() && !m_around.back().empty())
            return m_around.back();
        const NamedRange* phase = rangeAt(m_phases, slice.begin);
        return phase ? phase->name : std::string_view();
    }

    Sum& sumOf(StringId name, std::string_view phase)
    {
        const std::uint64_t key = std::uint64_t{name.value} << 32 | phaseIndex(phase);
        const auto [at, isNew] = m_places.try_emplace(key, m_sums.size());
        if (isNew)
            m_sums.push_back({.name = name, .phase = phase, .longest = {}});
        return m_sums[at->second];
    }

    std::uint32_t phaseIndex(std::string_view phase)
    {
        const auto found = std::find(m_phaseNames.begin(), m_phaseNames.end(), phase);
        const auto index = static_cast<std::uint32_t>(found - m_phaseNames.begin());
        if (found == m_phaseNames.end())
            m_phaseNames.push_back(phase);
        return index;
    }

    void addOp(const NestedBrief& nested)
    {
        const SliceBrief& op = *nested.slice;
        const std::string_view phase = phaseOf(op);
        if (phase == phase::kValidation) {
            if (const NamedRange* pass = rangeAt(m_phases, op.begin))
                m_validations.insert(pass->range.begin);
            else
                return;
        } else if (!rangeAt(m_steps, op.begin)) {
            return;
        }
        Sum& sum = sumOf(op.name, phase);
        addSaturating(sum.self, nested.self);
        if (m_open[op.name.value] == 0) {
            ++sum.count;
            addSaturating(sum.total, op.duration);
        }
        if (op.duration > sum.longestTime) {
            sum.longestTime = op.duration;
            sum.longest = op.id;
        }
    }

    const Trace& m_trace;
    Phases m_names;
    std::vector<std::string_view> m_around; ///< for each open slice: the innermost phase, including the slice itself
    std::vector<std::uint32_t> m_open;      ///< by string id: number of open operators with that name
    std::vector<NamedRange> m_steps, m_phases;
    std::set<TraceTime> m_validations;                       ///< starts of the validation passes that contain ops
    std::vector<std::string_view> m_phaseNames;              ///< only a few
    std::unordered_map<std::uint64_t, std::size_t> m_places; ///< index into m_sums, by name and phase
    std::vector<Sum> m_sums;
};

/// The duration of all device work by correlation id.
class WorkByCorrelation {
public:
    WorkByCorrelation(const Trace& trace, const std::stop_token& stop)
    {
        const auto take = [&](const SliceView& work) {
            if (const auto correlation = work.correlation().value; correlation != 0)
                m_work.push_back({correlation, work.duration()});
        };
        for (const Track& track : trace.tracks())
            for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
                forEachViewOf(trace, track.id, kind, take, stop);
        sortRuns(m_work, [](const Work& a, const Work& b) { return a.correlation < b.correlation; });
        std::size_t last = 0;
        for (std::size_t i = 1; i < m_work.size(); ++i)
            if (m_work[i].correlation == m_work[last].correlation)
                addSaturating(m_work[last].duration, m_work[i].duration);
            else
                m_work[++last] = m_work[i];
        m_work.resize(m_work.empty() ? 0 : last + 1);
    }
    [[nodiscard]] bool empty() const { return m_work.empty(); }

    /// Zero if there is none. The second call with an id returns zero too: a runtime call contains a driver call with
    /// the same id.
    Nanoseconds take(std::uint64_t correlation)
    {
        const auto isHere = [&](std::size_t at) { return at < m_work.size() && m_work[at].correlation == correlation; };
        if (!isHere(m_next)) // ids mostly increase from call to call
            m_next = static_cast<std::size_t>(
                std::lower_bound(m_work.begin(), m_work.end(), correlation,
                                 [](const Work& work, std::uint64_t wanted) { return work.correlation < wanted; }) -
                m_work.begin());
        return isHere(m_next) ? std::exchange(m_work[m_next++].duration, Nanoseconds{}) : Nanoseconds{};
    }

private:
    struct Work {
        std::uint64_t correlation;
        Nanoseconds duration;
    };
    std::vector<Work> m_work; ///< by correlation id
    std::size_t m_next = 0;
};

struct Call {
    TraceTime begin;
    Nanoseconds duration;
    std::uint64_t correlation;
};

/// The calls of a track with a correlation id, outer ones first.
std::vector<Call> callsOf(const Trace& trace, TrackId track, const std::stop_token& stop)
{
    std::vector<Call> calls;
    const auto take = [&](const SliceView& call) {
        if (call.correlation().value != 0)
            calls.push_back({call.begin(), call.duration(), call.correlation().value});
    };
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        forEachViewOf(trace, track, kind, take, stop);
    sortRuns(calls, [](const Call& a, const Call& b) {
        return std::tuple(a.begin, -a.duration) < std::tuple(b.begin, -b.duration);
    });
    return calls;
}

} // namespace

const OpCost* OpCosts::find(std::string_view name, std::string_view phase) const
{
    const auto found =
        std::find_if(ops.begin(), ops.end(), [&](const OpCost& op) { return op.name == name && op.phase == phase; });
    return found == ops.end() ? nullptr : &*found;
}

OpCosts opCosts(const Trace& trace, const std::vector<Step>& steps)
{
    Summing summing(trace, steps);
    for (const Track& track : trace.tracks())
        if ((track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread) &&
            isOfSameProcess(trace, track, steps))
            summing.addTrack(track.id);
    return summing.result();
}

OpDeviceTimes::OpDeviceTimes(const Trace& trace, const std::stop_token& stop)
{
    WorkByCorrelation work(trace, stop);
    if (work.empty())
        return;
    for (const Track& track : trace.tracks()) {
        const std::vector<Call> calls = callsOf(trace, track.id, stop);
        if (calls.empty())
            continue;
        const auto ops = briefsWhere(
            trace, track.id, [](const SliceView& view) { return view.kind() == ActivityKind::CpuOp; }, stop);
        std::vector<std::pair<const SliceBrief*, Times>> around; // the operators around the current call
        const auto close = [&](TraceTime until) {
            while (!around.empty() && around.back().first->end() <= until) {
                const auto [op, times] = around.back();
                around.pop_back();
                if (times.total.count() > 0)
                    m_ops.push_back({op->id, times});
                if (!around.empty())
                    addSaturating(around.back().second.total, times.total);
            }
        };
        std::size_t next = 0;
        for (const Call& call : calls) {
            for (; next < ops.size() && ops[next].begin <= call.begin; ++next) {
                close(ops[next].begin);
                around.emplace_back(&ops[next], Times{});
            }
            close(call.begin);
            if (around.empty())
                continue;
            const Nanoseconds duration = work.take(call.correlation);
            addSaturating(around.back().second.self, duration);
            addSaturating(around.back().second.total, duration);
        }
        close(TraceTime::max());
    }
    std::sort(m_ops.begin(), m_ops.end(), [](const Entry& a, const Entry& b) { return a.op < b.op; });
}

std::optional<OpDeviceTimes::Times> OpDeviceTimes::find(SliceId op) const
{
    const auto found =
        std::lower_bound(m_ops.begin(), m_ops.end(), op, [](const Entry& entry, SliceId id) { return entry.op < id; });
    return found != m_ops.end() && found->op == op ? std::optional(found->times) : std::nullopt;
}

} // namespace profiler::analysis
