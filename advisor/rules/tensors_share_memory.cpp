#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "tensors.share_memory";
using namespace profiler;
using namespace profiler::analysis;

// Minimum share of the step. Chosen: the smallest effect that an experiment reports as a gain (1 %); below it, who owns
// the memory matters more.
constexpr double kMinimumShare = 0.01;

/// A worker on another core wrote the batch, and the copy fetches it from there. Without the copy, the first operator
/// that reads the batch has to fetch it, which may take as long.
bool hasLoaderWorkers(const RuleContext& c)
{
    return (c.config ? (*c.config)[config::key::workers] : c.facts.input.workers) > 0;
}

/// The saving is at most the copy itself, its effect on later operators, and the time outside of phases in which its
/// memory is returned to the system. The copy displaces at most as many bytes from the caches as it writes; reading
/// these again takes no longer than the copy, which reads and writes as many bytes. No value if a device hides the
/// copy, or if the first operator that reads the batch has to fetch it.
std::optional<Saving> saving(const RuleContext& c, double cloneUs)
{
    if (hasDeviceWork(c.trace) || hasLoaderWorkers(c))
        return std::nullopt;
    const StepParts& parts = c.facts.statistics.steadyMeanParts;
    return upperBound(SavingUnit::UsPerStep, 2 * std::max(cloneUs, toUs(parts.copy)) + toUs(parts.other));
}

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::shareMemory])
        return silent(message<"tensors.share_memory.on", "Tensors already share the loader's memory.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell(message<"tensors.share_memory.no_ops", "The trace has no operators.">(), Need::Operators);
    // Copies that are inferred from operators (steps/phases.h) go to a device, so they do not mark where a
    // batch becomes tensors.
    const bool marked = hasKind(c.trace, ActivityKind::Phase) && c.facts.statistics.steadyMeanParts.copy.count() > 0;
    const OpCost* clone = c.facts.ops.find("aten::clone", phase::kCopy);
    if (!clone && !marked && !c.config)
        return cannotTell(
            message<"tensors.share_memory.no_copy_phase", "The trace does not mark where a batch becomes tensors.">(),
            Need::Program);
    const double share = clone ? clone->totalUsPerStep / c.facts.statistics.steadyMeanUs : 0;
    if (share < kMinimumShare)
        return silent(
            message<"tensors.share_memory.short", "Copying batches on the host takes only {share} of a step.">(
                {{"share", share, shareText(share)}}));
    Advice advice =
        fires(message<"tensors.share_memory.copied",
                      "Each batch is copied on the host after it was created: {time}, {share} of the step.">(
            {{"time", clone->totalUsPerStep, timeText(clone->totalUsPerStep)}, {"share", share, shareText(share)}}));
    advice.timeShare = share;
    advice.saving = saving(c, clone->totalUsPerStep);
    if (!advice.saving)
        advice.whyNoPrediction =
            hasDeviceWork(c.trace) ? message<"tensors.share_memory.hidden",
                                             "The trace does not record whether the device hides the copy.">()
                                   : message<"tensors.share_memory.fetched",
                                             "The copy fetches the batch from the worker's core; without the copy, the "
                                             "first operator does, and the trace does not show how long that takes.">();
    advice.caveats = {
        message<"tensors.share_memory.lifetime",
                "The memory must outlive the tensor, and nothing may write to it while the tensor is in use.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, std::vector{clone->longest});
    return advice;
}

} // namespace

Rule tensors_share_memory()
{
    return {kKey, "Each batch is copied one extra time", check, Needs::Steps, TimePart::Data | kHostWork};
}

} // namespace advisor::rules
