#include "profiler/formats/pytorch/assemble.h"
#include "profiler/model/radix_sort.h"

#include <algorithm>
#include <span>
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
    const auto source = shared.rowInfos[from.rowId].track, target = shared.rowInfos[to.rowId].track;
    if (source && target)
        shared.builder.addFlow(kind, {*source, traceTime(from.time)}, {*target, traceTime(to.time), to.ofNext});
    else
        losses.add(Loss::FlowWithoutRow, source ? to.offset : from.offset);
}

/// @param points  points with the same id and category, in time order
void assembleFlow(SharedBuild& shared, Losses& losses, std::span<const FlowPoint> points)
{
    const FlowUse use = kCategories[points.front().category].flow;
    const FlowKind kind = use == FlowUse::Launch     ? FlowKind::Launch
                          : use == FlowUse::Backward ? FlowKind::ForwardBackward
                                                     : FlowKind::Async;
    // Ids are reused: an end belongs to the last start before it.
    const FlowPoint* from = nullptr;
    bool used = false;
    for (const FlowPoint& point : points) {
        if (from && point.phase != 's') {
            addFlow(shared, losses, kind, *from, point);
            used = true;
        } else if (point.phase != 's' || (from && !used)) {
            losses.add(Loss::FlowWithoutEnd, point.phase == 's' ? from->offset : point.offset);
        }
        if (point.phase != 'f') {
            from = &point;
            used = used && point.phase == 't';
        }
    }
    if (from && !used)
        losses.add(Loss::FlowWithoutEnd, from->offset);
}

} // namespace

void append(ScanResult& whole, ScanResult&& part)
{
    appendAll(whole.flows, std::move(part.flows));
    appendAll(whole.metadata, std::move(part.metadata));
    unite(whole.stepRows, part.stepRows);
    unite(whole.opRows, part.opRows);
    unite(whole.callRows, part.callRows);
    whole.losses.add(part.losses);
    whole.events += part.events;
    whole.deviceWork += part.deviceWork;
    whole.uncorrelated += part.uncorrelated;
    whole.launchFlows += part.launchFlows;
    whole.sequences += part.sequences;
    whole.markedOps += part.markedOps;
    whole.latest = std::max(whole.latest, part.latest);
}

void assembleFlows(SharedBuild& shared, ScanResult& whole)
{
    const std::vector<FlowPoint>& points = whole.flows;
    std::vector<SortKey> order;
    order.reserve(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
        order.push_back({static_cast<std::int64_t>(points[i].id), i});
    radixSort(order);
    std::vector<FlowPoint> sameId;
    for (auto next = order.begin(); next != order.end();) {
        sameId.clear();
        for (const std::int64_t id = next->key; next != order.end() && next->key == id; ++next)
            sameId.push_back(points[next->place]);
        std::stable_sort(sameId.begin(), sameId.end(), [](const FlowPoint& a, const FlowPoint& b) {
            return std::tie(a.category, a.time) < std::tie(b.category, b.time);
        });
        for (std::span<const FlowPoint> left = sameId; !left.empty();) {
            const auto other = std::find_if(left.begin(), left.end(), [&](const FlowPoint& point) {
                return point.category != left.front().category;
            });
            const auto count = static_cast<std::size_t>(other - left.begin());
            assembleFlow(shared, whole.losses, left.first(count));
            left = left.subspan(count);
        }
    }
    whole.flows = {};
}

} // namespace profiler::formats::json
