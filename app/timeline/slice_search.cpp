#include "app/timeline/slice_search.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace app {

using profiler::ActivityKind;
using profiler::Flow;
using profiler::FlowKind;
using profiler::LodBucket;
using profiler::Nanoseconds;
using profiler::Slice;
using profiler::SliceId;
using profiler::TimeRange;
using profiler::Trace;
using profiler::TraceTime;
using profiler::TrackId;

namespace {

constexpr int kBuckets = 16;
constexpr Nanoseconds kNarrow{8 * kBuckets}; ///< a window with few slices of one depth

/// First (or last) slice at `depth` in `window`, found by narrowing the window with the level-of-detail index.
std::optional<Slice> edgeSlice(const Trace& trace, TrackId track, int depth, TimeRange window, bool last)
{
    while (window.duration() > kNarrow) {
        std::array<LodBucket, kBuckets> buckets;
        trace.summarize(track, depth, window, buckets);
        int edge = -1;
        for (int i = 0; i < kBuckets && edge < 0; ++i) {
            const int at = last ? kBuckets - 1 - i : i;
            if (buckets[static_cast<std::size_t>(at)].count > 0)
                edge = at;
        }
        if (edge < 0)
            return std::nullopt;
        const std::int64_t span = window.duration().count();
        // One extra bucket on either side, because the index rounds bucket edges.
        window = TimeRange{window.begin + Nanoseconds{span / kBuckets * std::max(0, edge - 1)},
                           window.begin + Nanoseconds{span / kBuckets * (edge + 2) + kBuckets}}
                     .clippedTo(window);
    }
    std::optional<Slice> found;
    trace.forEach(track, window, [&](const Slice& slice) {
        const bool better = !found || (last ? slice.begin > found->begin : slice.begin < found->begin);
        if (slice.depth == depth && better)
            found = slice;
        return true;
    });
    return found;
}

constexpr std::size_t kMostVisited = 20'000; ///< maximum slices below one operator
constexpr std::size_t kMostLooked = 6'000;   ///< maximum slices in view
constexpr std::size_t kMostInView = 400;     ///< maximum arrows in view
constexpr std::size_t kMostKept = 50'000;    ///< slices whose arrows are cached

bool isCall(const Slice& slice)
{
    return slice.kind == ActivityKind::CudaRuntime || slice.kind == ActivityKind::CudaDriver;
}

FlowArrow::Kind kindOf(FlowKind kind)
{
    return kind == FlowKind::Launch            ? FlowArrow::Kind::Launch
           : kind == FlowKind::ForwardBackward ? FlowArrow::Kind::ForwardBackward
                                               : FlowArrow::Kind::Async;
}

/// The enclosing operator of a slice on the same thread.
std::optional<Slice> operatorAround(const Trace& trace, const Slice& slice)
{
    for (int depth = slice.depth - 1; depth >= 0; --depth)
        if (const auto outer = trace.at(slice.id.track, depth, slice.begin);
            outer && outer->kind == ActivityKind::CpuOp)
            return outer;
    return std::nullopt;
}

/// Runtime calls below an operator, in order.
std::vector<Slice> callsWithin(const Trace& trace, const Slice& op, std::size_t most)
{
    std::vector<Slice> calls;
    std::size_t visited = 0;
    trace.forEach(op.id.track, op.range(), [&](const Slice& slice) {
        if (slice.depth > op.depth && isCall(slice) && slice.correlation.value != 0)
            calls.push_back(slice);
        return ++visited < kMostVisited && calls.size() < most;
    });
    std::sort(calls.begin(), calls.end(), [](const Slice& a, const Slice& b) { return a.begin < b.begin; });
    return calls;
}

/// Collects arrows without duplicates.
class Walk {
public:
    Walk(const Trace& trace, std::size_t most) : m_trace(trace), m_most(most) {}

    /// All predecessors of `slice`.
    void up(const Slice& slice)
    {
        for (const Flow& flow : m_trace.flowsOf(slice.id))
            if (flow.to == slice.id && add(kindOf(flow.kind), m_trace.slice(flow.from), slice))
                up(m_trace.slice(flow.from));
        if (!isCall(slice))
            return;
        if (const auto op = operatorAround(m_trace, slice); op && add(FlowArrow::Kind::Call, *op, slice))
            up(*op);
    }

    /// All successors of `slice`.
    void down(const Slice& slice)
    {
        if (slice.kind == ActivityKind::CpuOp)
            for (const Slice& call : callsWithin(m_trace, slice, m_most))
                if (add(FlowArrow::Kind::Call, slice, call))
                    down(call);
        for (const Flow& flow : m_trace.flowsOf(slice.id))
            if (flow.from == slice.id && add(kindOf(flow.kind), slice, m_trace.slice(flow.to)))
                down(m_trace.slice(flow.to));
    }

    std::vector<FlowArrow> take() { return std::move(m_arrows); }

private:
    bool add(FlowArrow::Kind kind, const Slice& from, const Slice& to)
    {
        const auto key = [](SliceId id) { return std::pair(id.track.value, id.ordinal); };
        if (m_arrows.size() >= m_most || !m_seen.insert({key(from.id), key(to.id)}).second)
            return false;
        m_arrows.push_back({kind, from, to});
        return true;
    }

    using Key = std::pair<std::uint32_t, std::uint32_t>;
    const Trace& m_trace;
    std::size_t m_most;
    std::vector<FlowArrow> m_arrows;
    std::set<std::pair<Key, Key>> m_seen;
};

} // namespace

std::optional<Slice> nextSlice(const Trace& trace, const Slice& from)
{
    // An empty slice ends at its start and must not find itself again.
    const TraceTime after = std::max(from.end(), from.begin + Nanoseconds{1});
    return edgeSlice(trace, from.id.track, from.depth, {after, trace.range().end + Nanoseconds{1}}, false);
}

std::optional<Slice> previousSlice(const Trace& trace, const Slice& from)
{
    return edgeSlice(trace, from.id.track, from.depth, {trace.range().begin, from.begin}, true);
}

std::optional<Slice> nearestSlice(const Trace& trace, TrackId track, int depth, TraceTime time, Nanoseconds reach)
{
    if (auto exact = trace.at(track, depth, time))
        return exact;
    const auto after = edgeSlice(trace, track, depth, {time, time + reach + Nanoseconds{1}}, false);
    const auto before = edgeSlice(trace, track, depth, {time - reach, time}, true);
    if (!after || !before)
        return after ? after : before;
    return after->begin - time < time - before->end() ? after : before;
}

std::vector<FlowArrow> flowsAround(const Trace& trace, const Slice& slice, std::size_t most)
{
    Walk walk(trace, most);
    walk.up(slice);
    walk.down(slice);
    return walk.take();
}

std::optional<Slice> alongFlow(const Trace& trace, const Slice& slice, bool forward)
{
    if (forward && slice.kind == ActivityKind::CpuOp)
        if (const auto calls = callsWithin(trace, slice, 1); !calls.empty())
            return calls.front();
    std::optional<Slice> best;
    for (const Flow& flow : trace.flowsOf(slice.id)) {
        const SliceId here = forward ? flow.from : flow.to;
        if (here != slice.id)
            continue;
        const Slice there = trace.slice(forward ? flow.to : flow.from);
        if (!best || there.begin < best->begin)
            best = there;
    }
    if (!best && !forward && isCall(slice))
        return operatorAround(trace, slice);
    return best;
}

std::optional<Slice> otherPass(const Trace& trace, const Slice& slice)
{
    // The operator of the slice and its enclosing operators: autograd assigns sequence numbers only to some of them.
    std::optional<Slice> op = slice;
    if (!isCall(slice) && slice.kind != ActivityKind::CpuOp) {
        const auto call = alongFlow(trace, slice, false);
        op = call ? operatorAround(trace, *call) : std::nullopt;
    } else if (isCall(slice)) {
        op = operatorAround(trace, slice);
    }
    for (; op; op = operatorAround(trace, *op))
        for (const Flow& flow : trace.flowsOf(op->id))
            if (flow.kind == FlowKind::ForwardBackward)
                return trace.slice(flow.from == op->id ? flow.to : flow.from);
    return std::nullopt;
}

const std::vector<FlowArrow>& FlowMemory::beginningAt(const std::shared_ptr<const Trace>& trace, const Slice& slice)
{
    if (trace != m_trace || m_arrows.size() >= kMostKept)
        m_arrows.clear();
    m_trace = trace;
    const auto [known, isNew] = m_arrows.try_emplace(std::uint64_t{slice.id.track.value} << 32 | slice.id.ordinal);
    if (isNew)
        for (const Flow& flow : trace->flowsOf(slice.id))
            if (flow.from == slice.id)
                known->second.push_back({kindOf(flow.kind), slice, trace->slice(flow.to)});
    return known->second;
}

FlowsInView flowsInView(const std::shared_ptr<const Trace>& trace, std::span<const profiler::TrackId> tracks,
                        profiler::TimeRange window, FlowMemory& memory)
{
    const bool anyMayStart = !trace->explicitFlows().empty(); // a flow in the file may start at any slice
    const auto mayStart = [&](profiler::TrackId track) {      // otherwise arrows end there
        return anyMayStart || trace->track(track).kind != profiler::TrackKind::Stream;
    };
    std::size_t begin = 0;
    for (const profiler::TrackId track : tracks)
        if (mayStart(track))
            begin += trace->beginIn(track, window, kMostLooked + 1);
    FlowsInView found;
    found.tooMany = begin > kMostLooked; // skipped, because the result would not be used
    std::size_t looked = 0;
    for (const profiler::TrackId track : tracks) {
        if (found.tooMany)
            break;
        if (!mayStart(track))
            continue;
        trace->forEach(track, window, [&](const Slice& slice) {
            found.tooMany = found.tooMany || ++looked > kMostLooked || found.arrows.size() > kMostInView;
            const bool starts = isCall(slice) ? slice.correlation.value != 0
                                              : slice.sequence >= 0 && !slice.is(profiler::slice_flag::kBackward);
            if (starts || anyMayStart) {
                const auto& arrows = memory.beginningAt(trace, slice);
                found.arrows.insert(found.arrows.end(), arrows.begin(), arrows.end());
            }
            return !found.tooMany;
        });
    }
    if (found.tooMany)
        found.arrows.clear();
    return found;
}

} // namespace app
