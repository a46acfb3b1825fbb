#include "profiler/formats/output/arrows.h"

#include "profiler/formats/output/output_file.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace profiler::formats::writers {

namespace {

bool isCall(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

// Ids of other arrows start here, above the correlation ids of all processes. The ids are small enough for viewers that
// store numbers as doubles.
constexpr std::uint64_t kOtherIds = std::uint64_t{1} << 52;

void sortOnce(std::vector<std::uint64_t>& values)
{
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Returns the values that occur more than once in a sorted list, and removes them from the list.
std::vector<std::uint64_t> takeRepeated(std::vector<std::uint64_t>& values)
{
    std::vector<std::uint64_t> repeated;
    for (std::size_t i = 1; i < values.size(); ++i)
        if (values[i] == values[i - 1] && (repeated.empty() || repeated.back() != values[i]))
            repeated.push_back(values[i]);
    std::erase_if(values,
                  [&](std::uint64_t value) { return std::binary_search(repeated.begin(), repeated.end(), value); });
    return repeated;
}

/// Adds the arrows of launches with several pieces of work, such as CUDA graphs. Their correlation id does not identify
/// a single arrow.
void addLaunches(const Trace& trace, const std::vector<std::uint64_t>& correlations, std::vector<Flow>& flows)
{
    if (correlations.empty())
        return;
    std::unordered_map<std::uint64_t, SliceId> calls; // the first call per id
    std::vector<std::pair<std::uint64_t, SliceId>> work;
    for (const Track& track : trace.tracks())
        trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
            const std::uint64_t correlation = slice.correlation.value;
            if ((isCall(slice.kind) || isDeviceWork(slice.kind)) &&
                std::binary_search(correlations.begin(), correlations.end(), correlation)) {
                if (isCall(slice.kind))
                    calls.try_emplace(correlation, slice.id);
                else
                    work.emplace_back(correlation, slice.id);
            }
            return true;
        });
    for (const auto& [correlation, id] : work)
        if (const auto call = calls.find(correlation); call != calls.end())
            flows.push_back({FlowKind::Launch, call->second, id});
}

/// An operator and its sequence number.
struct Numbered {
    std::int64_t number = 0;
    TraceTime begin{};
    SliceId id;
    std::int64_t pid = 0; ///< 0: unknown
};

bool before(const Numbered& a, const Numbered& b)
{
    return std::tie(a.number, a.begin) < std::tie(b.number, b.begin);
}

/// Adds the arrows of sequence numbers. They are the same as those of Trace::flowsOf(), which searches every track for
/// each of them.
void addBackward(std::vector<Numbered> forward, const std::vector<Numbered>& backward, std::vector<Flow>& flows)
{
    std::stable_sort(forward.begin(), forward.end(), before);
    for (const Numbered& node : backward) {
        // The forward op with that number that starts last, but not after the node. Among ops with equal starts, the
        // first one.
        const Numbered* best = nullptr;
        for (auto op = std::upper_bound(forward.begin(), forward.end(), node, before);
             op != forward.begin() && (--op)->number == node.number && (!best || op->begin == best->begin);)
            if (op->pid == node.pid || op->pid == 0 || node.pid == 0) // only within the same process
                best = &*op;
        if (best)
            flows.push_back({FlowKind::ForwardBackward, best->id, node.id});
    }
}

} // namespace

Arrows::Arrows(const Trace& trace)
{
    std::vector<std::uint64_t> calls, work;
    std::vector<Numbered> forward, backward;
    std::vector<Flow> flows(trace.explicitFlows().begin(), trace.explicitFlows().end());
    for (const Track& track : trace.tracks())
        trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
            if (slice.correlation.value != 0 && isCall(slice.kind))
                calls.push_back(slice.correlation.value);
            else if (slice.correlation.value != 0 && isDeviceWork(slice.kind))
                work.push_back(slice.correlation.value);
            else if (slice.kind == ActivityKind::CpuOp && slice.sequence >= 0)
                (slice.is(slice_flag::kBackward) ? backward : forward)
                    .push_back({slice.sequence, slice.begin, slice.id, track.pid});
            return true;
        });
    sortOnce(calls);
    std::sort(work.begin(), work.end());
    addLaunches(trace, takeRepeated(work), flows);
    addBackward(std::move(forward), backward, flows);
    std::set_intersection(calls.begin(), calls.end(), work.begin(), work.end(), std::back_inserter(m_launched));
    // A file may contain an explicit arrow that sequence numbers also imply.
    const auto key = [](const Flow& flow) { return std::tie(flow.from, flow.to, flow.kind); };
    std::sort(flows.begin(), flows.end(), [&](const Flow& a, const Flow& b) { return key(a) < key(b); });
    flows.erase(std::unique(flows.begin(), flows.end(), [&](const Flow& a, const Flow& b) { return key(a) == key(b); }),
                flows.end());
    std::uint64_t id = kOtherIds;
    for (const Flow& flow : flows) {
        m_ends.push_back({flow.from, flow.kind, true, id});
        m_ends.push_back({flow.to, flow.kind, false, id++});
    }
    std::sort(m_ends.begin(), m_ends.end(),
              [](const ArrowEnd& a, const ArrowEnd& b) { return std::tie(a.slice, a.id) < std::tie(b.slice, b.id); });
}

std::span<const ArrowEnd> Arrows::at(const Slice& slice, std::vector<ArrowEnd>& ends) const
{
    ends.clear();
    const std::uint64_t correlation = slice.correlation.value;
    if (correlation != 0 && (isCall(slice.kind) || isDeviceWork(slice.kind)) &&
        std::binary_search(m_launched.begin(), m_launched.end(), correlation))
        ends.push_back({slice.id, FlowKind::Launch, isCall(slice.kind), correlation});
    auto other = std::lower_bound(m_ends.begin(), m_ends.end(), slice.id,
                                  [](const ArrowEnd& end, SliceId id) { return end.slice < id; });
    for (; other != m_ends.end() && other->slice == slice.id; ++other)
        ends.push_back(*other);
    return ends;
}

} // namespace profiler::formats::writers
