#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "parallel.kind";

struct Replication {
    std::vector<SliceId> forwards; ///< the DataParallel ranges
    Nanoseconds copying{};         ///< replicate, scatter, gather on the host threads
    std::set<std::int64_t> processes;
};

bool isDataParallel(std::string_view name)
{
    return name.starts_with("DataParallel.forward");
}

bool isReplication(std::string_view name)
{
    return name == "Broadcast" || name == "Scatter" || name == "Gather" || name.starts_with("BroadcastBackward") ||
           name.starts_with("GatherBackward") || name.starts_with("ReduceAddCoalesced");
}

Replication replication(const Trace& trace)
{
    Replication found;
    for (const ActivityKind kind : {ActivityKind::UserAnnotation, ActivityKind::CpuOp, ActivityKind::Phase})
        for (const Slice& slice : profiler::analysis::ofKindNamed(
                 trace, kind, [](std::string_view name) { return isDataParallel(name) || isReplication(name); })) {
            if (isDataParallel(trace.name(slice))) {
                found.forwards.push_back(slice.id);
                found.processes.insert(trace.track(slice.id.track).pid);
            } else {
                found.copying += slice.duration;
            }
        }
    return found;
}

/// Share of the steps' time, or of the whole trace if no steps are marked.
double shareOfSteps(const RuleContext& c, Nanoseconds time)
{
    Nanoseconds all{};
    for (const Step& step : c.facts.steps)
        all += step.range.duration();
    if (all.count() == 0)
        all = c.trace.range().duration();
    return all.count() > 0 ? std::min(1.0, toUs(time) / toUs(all)) : 0;
}

/// What DDP requires of the program.
std::vector<Message> caveats()
{
    return {message<"parallel.kind.processes",
                    "DDP needs one process per GPU, started by torchrun, with NCCL on GPUs or Gloo on the CPU.">(),
            message<"parallel.kind.learning_rate",
                    "The batch per step is the sum over all processes: scale the learning rate with it.">()};
}

/// The answer for a job if the rank that the other findings are about does not use DataParallel.
Advice onJob(const RuleContext& c)
{
    const std::span<const RankDigest> ranks = c.ranks->ranks;
    std::string replicating;
    std::size_t count = 0;
    for (const RankDigest& rank : ranks)
        if (rank.replicates) {
            replicating += (replicating.empty() ? "" : ", ") + std::to_string(rank.rank);
            ++count;
        }
    if (count > 0) {
        Advice advice = fires(message<"parallel.kind.some_ranks",
                                      "{ranks} of the job's ranks {ranks|drives|drive} several devices from one "
                                      "process (DataParallel): {list}.">({{"ranks", count}, {"list", replicating}}));
        advice.whyNoPrediction =
            message<"parallel.kind.not_predicted",
                    "DDP overlaps its communication; the trace does not show how much would remain exposed.">();
        advice.caveats = caveats();
        setToggle(advice, c, kKey, "ddp");
        return advice;
    }
    std::string roles;
    for (const GroupUse& use : c.ranks->analysis.groups)
        if (use.role != GroupRole::Unknown)
            roles += (roles.empty() ? "" : ", ") + std::string(groupRoleName(use.role));
    if (roles.empty())
        return silent(message<"parallel.kind.ranks", "Each of the {ranks} ranks is a separate process.">(
            {{"ranks", ranks.size()}}));
    return silent(
        message<"parallel.kind.job", "Each of the {ranks} ranks is a separate process; they communicate in "
                                     "groups of {roles} parallelism.">({{"ranks", ranks.size()}, {"roles", roles}}));
}

Advice check(const RuleContext& c)
{
    const std::string kind = setting(c, kKey).value_or("");
    if (kind == "ddp" || kind == "none")
        return silent(kind == "ddp" ? message<"parallel.kind.ddp", "The run already uses distributed data parallel.">()
                                    : message<"parallel.kind.one_device", "The run uses one model on one device.">());
    const Replication found = replication(c.trace);
    if (c.ranks && c.ranks->ranks.size() > 1 && found.forwards.empty())
        return onJob(c);
    if (kind.empty() && found.forwards.empty()) {
        if (!profiler::analysis::hasKind(c.trace, ActivityKind::UserAnnotation) &&
            !profiler::analysis::hasKind(c.trace, ActivityKind::CpuOp))
            return cannotTell(message<"parallel.kind.not_recorded",
                                      "The trace contains neither operators nor the program's ranges.">(),
                              Need::Operators);
        return silent(message<"parallel.kind.no_data_parallel", "DataParallel.forward never ran.">());
    }
    Advice advice = fires(
        found.copying.count() > 0
            ? message<"parallel.kind.copies", "One process drives all devices (DataParallel): each step copies the "
                                              "model to every device, {time} for {steps} steps.">(
                  {{"time", toUs(found.copying), timeText(toUs(found.copying))}, {"steps", found.forwards.size()}})
            : message<"parallel.kind.data_parallel", "One process drives all devices (DataParallel): each step copies "
                                                     "the model to every device.">());
    advice.timeShare = shareOfSteps(c, found.copying);
    advice.whyNoPrediction =
        message<"parallel.kind.not_predicted",
                "DDP overlaps its communication; the trace does not show how much would remain exposed.">();
    advice.caveats = caveats();
    setToggle(advice, c, kKey, "ddp");
    addEvidence(advice, c.trace, found.forwards);
    return advice;
}

} // namespace

Rule parallel_kind()
{
    return {kKey, "DataParallel copies the model in each step", check, Needs::Steps,
            TimePart::Communication | TimePart::Copy | TimePart::Launch | TimePart::Kernels};
}

} // namespace advisor::rules
