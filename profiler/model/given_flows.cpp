#include "profiler/model/given_flows.h"

#include "profiler/model/trace_data.h"

#include <algorithm>
#include <numeric>
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

bool sameFlow(const Flow& a, const Flow& b)
{
    return a.kind == b.kind && a.from == b.from && a.to == b.to;
}

void addOnce(std::vector<Flow>& flows, const Flow& flow)
{
    if (std::none_of(flows.begin(), flows.end(), [&](const Flow& known) { return sameFlow(known, flow); }))
        flows.push_back(flow);
}

} // namespace

GivenFlows::GivenFlows(const Trace& trace, std::span<const GivenFlow> flows, std::vector<Flow> known)
    : m_flows(std::move(known))
{
    m_flows.reserve(m_flows.size() + flows.size());
    for (const GivenFlow& flow : flows) {
        const auto from = innermostAt(trace, flow.from);
        const auto to = innermostAt(trace, flow.to);
        if (from && to)
            m_flows.push_back({flow.kind, *from, *to});
    }
    std::sort(m_flows.begin(), m_flows.end(), [](const Flow& a, const Flow& b) {
        return std::tie(a.from, a.to, a.kind) < std::tie(b.from, b.to, b.kind);
    });
    m_flows.erase(std::unique(m_flows.begin(), m_flows.end(), sameFlow), m_flows.end());
    m_flows.shrink_to_fit();
    m_byEnd.resize(m_flows.size());
    std::iota(m_byEnd.begin(), m_byEnd.end(), 0U);
    std::stable_sort(m_byEnd.begin(), m_byEnd.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return m_flows[a].to < m_flows[b].to; });
}

void GivenFlows::addTo(std::vector<Flow>& flows, SliceId id) const
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

std::size_t GivenFlows::bytes() const
{
    return m_flows.capacity() * sizeof(Flow) + m_byEnd.capacity() * sizeof(std::uint32_t);
}

std::span<const Flow> Trace::givenFlows() const
{
    return m->given.all();
}

} // namespace profiler
