#include "profiler/model/flows.h"

#include "profiler/model/parallel.h"
#include "profiler/model/radix_sort.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_data.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

namespace profiler {
namespace {

std::optional<SliceId> innermostAt(const Trace& trace, FlowEnd end)
{
    if (end.track.value >= trace.tracks().size())
        return std::nullopt;
    for (int depth = trace.depthCount(end.track) - 1; depth >= 0; --depth) {
        if (const auto slice = trace.at(end.track, depth, end.time))
            return slice->id;
    }
    return std::nullopt;
}

std::optional<SliceId> nextAt(const Trace& trace, FlowEnd end)
{
    constexpr TraceTime kLast = traceTime(std::numeric_limits<std::int64_t>::max());
    std::optional<Slice> first;
    const bool ordered = trace.slicesOf(end.track).ordered;
    trace.forEach(end.track, {end.time, kLast}, [&](const Slice& slice) {
        if (slice.begin >= end.time && (!first || slice.begin < first->begin))
            first = slice;
        return !first || !ordered;
    });
    return first ? std::optional(first->id) : std::nullopt;
}

/// One end of an arrow, and where to store the slice found for it.
struct Wanted {
    FlowEnd end;
    std::optional<SliceId>* found;
};

/// Finds the slices of many ends of one track in a single walk over its slices. The ends are sorted by time and the
/// blocks of the track are in order.
void findInOrder(const TrackSlices& slices, std::span<const Wanted> ends, const std::stop_token& stop)
{
    struct Open {
        std::int64_t end = 0;
        std::uint32_t ordinal = 0;
    };
    std::vector<Open> open; // the last slice at each depth
    std::size_t next = 0, nextFollowed = 0;
    const auto findBefore = [&](std::int64_t time) {
        for (; next < ends.size() && toNs(ends[next].end.time) < time; ++next) {
            if (ends[next].end.ofNext)
                continue;
            const std::int64_t at = toNs(ends[next].end.time);
            const auto innermost = std::find_if(open.rbegin(), open.rend(), [at](const Open& o) { return o.end > at; });
            if (innermost != open.rend())
                *ends[next].found = SliceId{ends[next].end.track, innermost->ordinal};
        }
    };
    const auto findFollowed = [&](std::int64_t begin, std::uint32_t ordinal) {
        for (; nextFollowed < ends.size() && toNs(ends[nextFollowed].end.time) <= begin; ++nextFollowed)
            if (ends[nextFollowed].end.ofNext)
                *ends[nextFollowed].found = SliceId{ends[nextFollowed].end.track, ordinal};
    };
    for (const BlockRef& ref : slices.blocks) {
        if (next == ends.size() || stop.stop_requested())
            return;
        const BlockPin block = ref.pin();
        for (std::uint32_t i = 0; block && i < block->size(); ++i) {
            const SliceColumns& columns = block->columns;
            findBefore(columns.begin(i));
            findFollowed(columns.begin(i), columns.ordinal(i));
            const std::size_t depth = columns.depth(i);
            if (depth >= open.size())
                open.resize(depth + 1, {std::numeric_limits<std::int64_t>::min(), 0});
            if (columns.duration(i) > 0)
                open[depth] = {columns.end(i), columns.ordinal(i)};
        }
    }
    findBefore(std::numeric_limits<std::int64_t>::max());
}

/// Finds the slices for the ends of one track. The ends are sorted by time, and the track belongs to the trace.
void findOfTrack(const Trace& trace, std::span<const Wanted> ends, const std::stop_token& stop)
{
    const TrackSlices& slices = trace.slicesOf(ends.front().end.track);
    // For a few ends, a walk over all slices does not pay off.
    constexpr std::size_t kEndsPerBlock = 16;
    if (slices.ordered && ends.size() > kEndsPerBlock * slices.blocks.size()) {
        findInOrder(slices, ends, stop);
        return;
    }
    for (const Wanted& wanted : ends) {
        if (stop.stop_requested())
            return;
        *wanted.found = wanted.end.ofNext ? nextAt(trace, wanted.end) : innermostAt(trace, wanted.end);
    }
}

/// Sorts by the number that `keyOf` returns for each value; stable.
template <class T, class KeyOf>
std::vector<T> sortedBy(std::vector<T> values, KeyOf&& keyOf)
{
    std::vector<SortKey> order;
    order.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        order.push_back({keyOf(values[i]), i});
    radixSort(order);
    std::vector<T> sorted;
    sorted.reserve(values.size());
    for (const SortKey& key : order)
        sorted.push_back(values[key.place]);
    return sorted;
}

bool sameFlow(const Flow& a, const Flow& b)
{
    return a.kind == b.kind && a.from == b.from && a.to == b.to;
}

void addOnce(std::vector<Flow>& flows, const Flow& flow)
{
    if (std::none_of(flows.begin(), flows.end(), [&](const Flow& known) { return sameFlow(known, flow); }))
        flows.push_back(flow);
}

struct Linked {
    SliceId id;
    std::int64_t begin;
};

std::vector<Linked> linked(const std::vector<TrackSlices>& tracks, LinkRole role, std::int64_t link)
{
    std::vector<Linked> found;
    for (std::uint32_t track = 0; track < tracks.size(); ++track) {
        for (const BlockRef& ref : tracks[track].blocks) {
            const BlockPin block = ref.summary().mayLink(role, link) ? ref.pin() : BlockPin{};
            if (!block)
                continue;
            for (const std::uint32_t position : block->linked(role, link))
                found.push_back({{TrackId{track}, block->columns.ordinal(position)}, block->columns.begin(position)});
        }
    }
    return found;
}

/// Operators with a sequence number in the process of `track`, since sequence numbers are per process. A track of an
/// unknown process may belong to any process.
std::vector<Linked> linkedOps(std::span<const Track> rows, const std::vector<TrackSlices>& tracks, TrackId track,
                              LinkRole role, std::int64_t sequence)
{
    std::vector<Linked> found = linked(tracks, role, sequence);
    const std::int64_t pid = rows[track.value].pid;
    std::erase_if(found, [&](const Linked& op) {
        const std::int64_t other = rows[op.id.track.value].pid;
        return pid != 0 && other != 0 && pid != other;
    });
    return found;
}

/// The op that a backward node belongs to. Several ops may share its sequence number (for example aten::linear and the
/// aten::addmm within it); like Kineto, this picks the last one that starts before the node.
const Linked* forwardOf(const std::vector<Linked>& forward, std::int64_t backwardBegin)
{
    const Linked* best = nullptr;
    for (const Linked& op : forward) {
        if (op.begin <= backwardBegin && (!best || op.begin > best->begin))
            best = &op;
    }
    return best;
}

void addLinkedFlows(std::span<const Track> rows, const std::vector<TrackSlices>& tracks, SliceId id,
                    const RawSlice& slice, std::vector<Flow>& flows)
{
    const auto role = linkRole(slice);
    if (!role)
        return;
    switch (*role) {
    case LinkRole::LaunchCall:
        for (const Linked& work : linked(tracks, LinkRole::LaunchedWork, slice.link))
            flows.push_back({FlowKind::Launch, id, work.id});
        break;
    case LinkRole::LaunchedWork:
        for (const Linked& call : linked(tracks, LinkRole::LaunchCall, slice.link))
            flows.push_back({FlowKind::Launch, call.id, id});
        break;
    case LinkRole::ForwardOp: {
        const auto forward = linkedOps(rows, tracks, id.track, LinkRole::ForwardOp, slice.link);
        for (const Linked& node : linkedOps(rows, tracks, id.track, LinkRole::BackwardOp, slice.link)) {
            if (const Linked* op = forwardOf(forward, node.begin); op && op->id == id)
                flows.push_back({FlowKind::ForwardBackward, id, node.id});
        }
        break;
    }
    case LinkRole::BackwardOp: {
        const auto forward = linkedOps(rows, tracks, id.track, LinkRole::ForwardOp, slice.link);
        if (const Linked* op = forwardOf(forward, slice.begin))
            flows.push_back({FlowKind::ForwardBackward, op->id, id});
        break;
    }
    }
}

} // namespace

ExplicitFlows::ExplicitFlows(const Trace& trace, std::span<const ExplicitFlow> flows, std::vector<Flow> known,
                             unsigned threads, const std::stop_token& stop)
    : m_flows(std::move(known))
{
    std::vector<std::optional<SliceId>> found(2 * flows.size());
    std::vector<Wanted> wanted;
    wanted.reserve(found.size());
    for (std::size_t i = 0; i < flows.size(); ++i) {
        wanted.push_back({flows[i].from, &found[2 * i]});
        wanted.push_back({flows[i].to, &found[2 * i + 1]});
    }
    std::vector<std::vector<Wanted>> tracks(trace.tracks().size());
    for (const Wanted& one : wanted)
        if (one.end.track.value < tracks.size())
            tracks[one.end.track.value].push_back(one);
    parallelFor(tracks.size(), threads, [&](std::size_t i) {
        if (tracks[i].empty())
            return;
        const auto time = [](const Wanted& one) { return toNs(one.end.time); };
        findOfTrack(trace, sortedBy(std::exchange(tracks[i], {}), time), stop);
    });
    m_flows.reserve(m_flows.size() + flows.size());
    for (std::size_t i = 0; i < flows.size(); ++i)
        if (found[2 * i] && found[2 * i + 1])
            m_flows.push_back({flows[i].kind, *found[2 * i], *found[2 * i + 1]});
        else
            ++m_unbound;
    const auto keyOf = [](SliceId id) {
        return static_cast<std::int64_t>(std::uint64_t{id.track.value} << 32 | id.ordinal);
    };
    m_flows = sortedBy(std::move(m_flows), [&](const Flow& flow) { return keyOf(flow.from); });
    for (auto first = m_flows.begin(); first != m_flows.end();) {
        const auto next = std::find_if(first, m_flows.end(), [&](const Flow& f) { return f.from != first->from; });
        std::sort(first, next,
                  [](const Flow& a, const Flow& b) { return std::tie(a.to, a.kind) < std::tie(b.to, b.kind); });
        first = next;
    }
    m_flows.erase(std::unique(m_flows.begin(), m_flows.end(), sameFlow), m_flows.end());
    m_flows.shrink_to_fit();
    std::vector<SortKey> byEnd;
    byEnd.reserve(m_flows.size());
    for (std::size_t i = 0; i < m_flows.size(); ++i)
        byEnd.push_back({keyOf(m_flows[i].to), i});
    radixSort(byEnd);
    m_byEnd.reserve(byEnd.size());
    for (const SortKey& key : byEnd)
        m_byEnd.push_back(static_cast<std::uint32_t>(key.place));
}

void ExplicitFlows::addTo(std::vector<Flow>& flows, SliceId id) const
{
    auto out = std::lower_bound(m_flows.begin(), m_flows.end(), id,
                                [](const Flow& flow, SliceId wanted) { return flow.from < wanted; });
    for (; out != m_flows.end() && out->from == id; ++out)
        addOnce(flows, *out);
    auto in = std::lower_bound(m_byEnd.begin(), m_byEnd.end(), id,
                               [&](std::uint32_t flow, SliceId wanted) { return m_flows[flow].to < wanted; });
    for (; in != m_byEnd.end() && m_flows[*in].to == id; ++in)
        addOnce(flows, m_flows[*in]);
}

std::size_t ExplicitFlows::bytes() const
{
    return m_flows.capacity() * sizeof(Flow) + m_byEnd.capacity() * sizeof(std::uint32_t);
}

std::span<const Flow> Trace::explicitFlows() const
{
    return m->explicitFlows.all();
}

std::vector<Flow> Trace::flowsOf(SliceId id) const
{
    std::vector<Flow> flows;
    if (const auto place = m->of(id.track).find(id.ordinal))
        addLinkedFlows(m->tracks, m->slices, id, place->block->at(place->position), flows);
    m->explicitFlows.addTo(flows, id);
    return flows;
}

} // namespace profiler
