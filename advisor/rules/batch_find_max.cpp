#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using profiler::analysis::toUs;

constexpr std::string_view kKey = "batch.find_max";
// Of the memory that there is: from here on a batch at least twice as large fits.
constexpr double kRoom = 0.45;

Advice check(const Case& c)
{
    if (setting(c, kKey) == "true")
        return silent("The largest batch is searched for already.");
    const auto use = memoryUse(c);
    if (!use)
        return cannotTell(memoryNotRecorded(c));
    if (!c.config)
        return cannotTell(fmt::format(
            "Memory was at most {} full, but the trace does not record the batch, nor what else it was kept for.",
            shareText(use->share())));
    if (use->share() > kRoom)
        return silent(
            fmt::format("Memory was {} full: a batch twice as large would hardly fit.", shareText(use->share())));
    Advice advice = fires(
        fmt::format("Memory was at most {} full: a batch at least twice as large fits.", shareText(use->share())));
    // What of a step does not grow with the batch, as far as the trace marks it: going over the weights.
    if (const auto& step = c.facts.statistics; step.steadyMeanUs > 0)
        advice.concerns =
            std::min(1.0, toUs(step.steadyMeanParts.optimizer + step.steadyMeanParts.zeroGrad) / step.steadyMeanUs);
    advice.whyNoPrediction = "How fast larger batches are is not in this trace: measure it.";
    advice.caveats = {"A larger batch wants another learning rate: see optimizer.lr_scaling.",
                      "Very large batches may generalise worse.",
                      "The search runs out of memory on purpose, in processes of its own."};
    setToggle(advice, c, kKey, "true");
    advice.evidence = {peakEvidence(c, *use)};
    return advice;
}

} // namespace

Rule batch_find_max()
{
    return {kKey,       "The device has room for a larger batch", check,
            Needs::Run, TimePart::Launch | TimePart::Kernels,     true};
}

} // namespace advisor::rules
