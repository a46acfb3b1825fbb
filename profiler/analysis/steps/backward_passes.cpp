#include "profiler/analysis/steps/backward_passes.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace profiler::analysis {
namespace {

/// What a thread records about its own work; steps around it do not count.
struct OwnWork {
    Intervals ranges;
    bool hasPhases = false; ///< has Phase slices, which only Stepscope records
};

OwnWork ownWork(const Trace& trace, const Phases& phases, TrackId track)
{
    OwnWork work;
    const auto& blocks = trace.slicesOf(track).blocks;
    work.hasPhases = std::any_of(blocks.begin(), blocks.end(),
                                 [](const BlockRef& block) { return block.summary().holds(ActivityKind::Phase); });
    if (work.hasPhases)
        return work;
    UnionBuilder ranges;
    std::vector<char> isMark(trace.stringCount());
    for (std::uint32_t id = 0; id < isMark.size(); ++id)
        isMark[id] = isProfilerStep(trace.string(StringId{id}));
    forEachView(trace, track, [&](const SliceView& slice) {
        const ActivityKind kind = slice.kind();
        const bool works =
            kind == ActivityKind::CpuOp || kind == ActivityKind::CudaRuntime || !phases.of(slice).empty();
        if (works && isMark[slice.nameId().value] == 0)
            ranges.add(slice.range());
    });
    work.ranges = ranges.take();
    return work;
}

bool touches(const Intervals& set, TimeRange range)
{
    const auto next = std::upper_bound(set.begin(), set.end(), range.begin,
                                       [](TraceTime time, const TimeRange& some) { return time < some.end; });
    return next != set.end() && next->begin < range.end;
}

} // namespace

bool isOldNode(std::string_view name)
{
    while (!name.empty() && name.back() >= '0' && name.back() <= '9')
        name.remove_suffix(1);
    return name.ends_with("Backward") || name.starts_with("torch::autograd::");
}

Intervals backwardPasses(const Trace& trace, const Phases& phases, TrackId track)
{
    const OwnWork own = ownWork(trace, phases, track);
    if (own.hasPhases)
        return {};
    std::vector<char> oldNodes(trace.stringCount());
    for (std::uint32_t id = 0; id < oldNodes.size(); ++id)
        oldNodes[id] = isOldNode(trace.string(StringId{id}));
    UnionBuilder nodes;
    for (const Track& other : trace.tracks()) {
        const bool host = other.kind == TrackKind::MainThread || other.kind == TrackKind::Thread;
        if (other.id == track || !host || other.pid != trace.track(track).pid)
            continue;
        forEachView(trace, other.id, [&](const SliceView& slice) {
            if (phases.of(slice) == phase::kBackward ||
                (slice.kind() == ActivityKind::CpuOp && oldNodes[slice.nameId().value] != 0))
                nodes.add(slice.range());
        });
    }
    Intervals passes;
    for (const TimeRange& node : nodes.take()) {
        if (!passes.empty() && !touches(own.ranges, {passes.back().end, node.begin}))
            passes.back().end = node.end;
        else
            passes.push_back(node);
    }
    return subtract(passes, own.ranges);
}

} // namespace profiler::analysis
