#include "profiler/io/formats/writers/arrows.h"

#include "profiler/io/formats/writers/output_file.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace profiler::formats::writers {

namespace {

bool isCall(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

// Other arrows count up from here: correlations, of any process, are below.
constexpr std::uint64_t kOtherIds = std::uint64_t{1} << 56;

void sortOnce(std::vector<std::uint64_t>& values)
{
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

} // namespace

Arrows::Arrows(const Trace& trace)
{
    std::vector<std::uint64_t> calls, work;
    std::vector<Flow> flows(trace.givenFlows().begin(), trace.givenFlows().end());
    for (const Track& track : trace.tracks())
        trace.forEach(track.id, kAllTime, [&](const Slice& slice) {
            if (slice.correlation.value != 0 && isCall(slice.kind))
                calls.push_back(slice.correlation.value);
            else if (slice.correlation.value != 0 && isDeviceWork(slice.kind))
                work.push_back(slice.correlation.value);
            else if (slice.kind == ActivityKind::CpuOp && slice.is(slice_flag::kBackward) && slice.sequence >= 0)
                for (const Flow& flow : trace.flowsOf(slice.id))
                    if (flow.kind == FlowKind::ForwardBackward && flow.to == slice.id)
                        flows.push_back(flow);
            return true;
        });
    sortOnce(calls);
    sortOnce(work);
    std::set_intersection(calls.begin(), calls.end(), work.begin(), work.end(), std::back_inserter(m_launched));
    // A file may give an arrow that sequence numbers say too.
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
