#include "advisor/evidence/op_walk.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/model/activity.h"

#include <string_view>

namespace advisor {

using namespace profiler;

namespace {

enum class Holds { AsAnOperator, AsARange };

/// A range has a name without a namespace: "DistributedDataParallel.forward", a program's "forward". A wait for a batch
/// and a node of the backward pass ("MmBackward0") count as operators and stand for their contents.
Holds nestingOf(std::string_view name)
{
    const auto end = name.find_last_not_of("0123456789");
    const bool backward = name.substr(0, end == name.npos ? 0 : end + 1).ends_with("Backward");
    return backward || name.find("::") != name.npos || analysis::phaseOfRange(name) == phase::kDataWait
               ? Holds::AsAnOperator
               : Holds::AsARange;
}

/// Removes the ranges around operators.
void dropRanges(const Trace& trace, std::vector<analysis::SliceBrief>& ops)
{
    analysis::NameAnswers hold(trace, nestingOf);
    std::vector<bool> drop(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (hold(ops[i].name) == Holds::AsARange)
            for (std::size_t k = i + 1; k < ops.size() && ops[k].begin < ops[i].end() && !drop[i]; ++k)
                drop[i] = hold(ops[k].name) == Holds::AsAnOperator;
    std::size_t at = 0;
    std::erase_if(ops, [&](const analysis::SliceBrief&) { return drop[at++]; });
}

} // namespace

std::vector<ThreadOps> threadsOps(const Trace& trace)
{
    std::vector<ThreadOps> threads;
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        std::vector<analysis::SliceBrief> ops = analysis::briefsWhere(
            trace, track.id, [](const analysis::SliceView& slice) { return slice.kind() == ActivityKind::CpuOp; });
        dropRanges(trace, ops);
        TraceTime covered = TraceTime::min();
        std::erase_if(ops, [&](const analysis::SliceBrief& op) {
            const bool inside = op.begin < covered;
            covered = inside ? covered : op.end();
            return inside;
        });
        threads.push_back({track.id, std::move(ops)});
    }
    return threads;
}

} // namespace advisor
