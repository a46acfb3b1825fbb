#include "profiler/io/formats/json/assemble.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace profiler::formats::json {

namespace {

template <class T>
void appendAll(std::vector<T>& whole, std::vector<T>&& part)
{
    whole.insert(whole.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

void unite(std::vector<bool>& whole, const std::vector<bool>& part)
{
    whole.resize(std::max(whole.size(), part.size()));
    for (std::size_t i = 0; i < part.size(); ++i)
        if (part[i])
            whole[i] = true;
}

void addFlow(SharedBuild& shared, Losses& losses, FlowKind kind, const FlowPoint& from, const FlowPoint& to)
{
    const auto source = shared.lanes[from.lane].track, target = shared.lanes[to.lane].track;
    if (source && target)
        shared.builder.addFlow(kind, {*source, traceTime(from.time)}, {*target, traceTime(to.time), to.ofNext});
    else
        losses.add(Loss::FlowWithoutRow, source ? to.offset : from.offset);
}

} // namespace

void append(Harvest& whole, Harvest&& part)
{
    appendAll(whole.flows, std::move(part.flows));
    appendAll(whole.metadata, std::move(part.metadata));
    unite(whole.stepLanes, part.stepLanes);
    unite(whole.opLanes, part.opLanes);
    unite(whole.callLanes, part.callLanes);
    whole.losses.add(part.losses);
    whole.events += part.events;
    whole.deviceWork += part.deviceWork;
    whole.uncorrelated += part.uncorrelated;
    whole.launchFlows += part.launchFlows;
    whole.sequences += part.sequences;
    whole.markedOps += part.markedOps;
    whole.latest = std::max(whole.latest, part.latest);
}

void assembleFlows(SharedBuild& shared, Harvest& whole)
{
    std::stable_sort(whole.flows.begin(), whole.flows.end(), [](const FlowPoint& a, const FlowPoint& b) {
        return std::tuple(a.category, a.id, a.time) < std::tuple(b.category, b.id, b.time);
    });
    for (std::size_t first = 0, next = 0; first < whole.flows.size(); first = next) {
        const FlowPoint& flow = whole.flows[first];
        while (next < whole.flows.size() && whole.flows[next].category == flow.category &&
               whole.flows[next].id == flow.id)
            ++next;
        const FlowUse use = kCategories[flow.category].flow;
        const FlowKind kind = use == FlowUse::Launch     ? FlowKind::Launch
                              : use == FlowUse::Backward ? FlowKind::ForwardBackward
                                                         : FlowKind::Async;
        // Ids are used again: an end belongs to the last begin before it.
        const FlowPoint* from = nullptr;
        bool used = false;
        for (std::size_t i = first; i < next; ++i) {
            const FlowPoint& point = whole.flows[i];
            if (from && point.phase != 's') {
                addFlow(shared, whole.losses, kind, *from, point);
                used = true;
            } else if (point.phase != 's' || (from && !used)) {
                whole.losses.add(Loss::FlowWithoutEnd, point.phase == 's' ? from->offset : point.offset);
            }
            if (point.phase != 'f') {
                from = &point;
                used = used && point.phase == 't';
            }
        }
        if (from && !used)
            whole.losses.add(Loss::FlowWithoutEnd, from->offset);
    }
    whole.flows = {};
}

} // namespace profiler::formats::json
