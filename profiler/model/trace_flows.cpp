#include "profiler/model/trace.h"

#include "profiler/model/trace_data.h"

namespace profiler {
namespace {

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

std::vector<Flow> Trace::flowsOf(SliceId id) const
{
    std::vector<Flow> flows;
    if (const auto place = m->of(id.track).find(id.ordinal))
        addLinkedFlows(m->tracks, m->slices, id, place->block->at(place->position), flows);
    m->explicitFlows.addTo(flows, id);
    return flows;
}

} // namespace profiler
