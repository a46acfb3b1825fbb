#include "advisor/advice.h"
#include "advisor/evidence/memory_use.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>

namespace advisor::rules {
namespace {

using profiler::message;
using profiler::analysis::toUs;

constexpr std::string_view kKey = "batch.find_max";
// Maximum share of the memory in use. A batch twice as large takes at most twice the memory; chosen: a tenth of the
// memory is left for allocator fragmentation and for libraries.
constexpr double kRoom = 0.45;

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"batch.find_max.on", "The run already searches for the largest batch.">());
    const auto use = memoryUse(c);
    if (!use)
        return memoryNotRecorded(c);
    if (!c.config)
        return cannotTell(message<"batch.find_max.no_batch", "Memory was at most {share} full, but the trace records "
                                                             "neither the batch size nor what else uses the memory.">(
                              {{"share", use->share(), shareText(use->share())}}),
                          Need::Program);
    if (use->share() > kRoom)
        return silent(
            message<"batch.find_max.full", "Memory was {share} full: a batch twice as large would hardly fit.">(
                {{"share", use->share(), shareText(use->share())}}));
    Advice advice =
        fires(message<"batch.find_max.room", "Memory was at most {share} full: a batch at least twice as large fits.">(
            {{"share", use->share(), shareText(use->share())}}));
    // The part of a step that does not grow with the batch, as far as the trace marks it: the passes over the weights.
    if (const auto& step = c.facts.statistics; step.steadyMeanUs > 0)
        advice.timeShare =
            std::min(1.0, toUs(step.steadyMeanParts.optimizer + step.steadyMeanParts.zeroGrad) / step.steadyMeanUs);
    advice.whyNoPrediction =
        message<"batch.find_max.no_prediction", "The trace does not show how fast larger batches are: measure it.">();
    advice.caveats = {
        message<"batch.find_max.rate", "A larger batch needs another learning rate: see optimizer.lr_scaling.">(),
        message<"batch.find_max.generalisation", "Very large batches may generalize worse.">(),
        message<"batch.find_max.search", "The search runs out of memory on purpose, in separate processes.">()};
    setToggle(advice, c, kKey, "true");
    advice.evidence = {peakEvidence(c, *use)};
    return advice;
}

} // namespace

Rule batch_find_max()
{
    return {kKey, "Device memory fits a larger batch", check, Needs::Run, TimePart::Launch | TimePart::Kernels, true};
}

} // namespace advisor::rules
