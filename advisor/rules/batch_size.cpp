#include "advisor/gpu_facts.h"
#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "batch.size";
using namespace profiler;
using namespace profiler::analysis;

// Of a step, in what does not grow with the batch: a doubling wins half of it.
constexpr double kWorthFixing = 0.15;
// Of the memory that there is.
constexpr double kRoom = 0.45;

Advice check(const Case& c)
{
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const StepParts& parts = c.facts.statistics.steadyMeanParts;
    // The optimizer and zeroing go over the weights, however many samples there are.
    const double fixedUs = toUs(parts.optimizer + parts.zeroGrad);
    const double share = fixedUs / c.facts.statistics.steadyMeanUs;
    if (fixedUs == 0)
        return cannotTell("The trace does not mark what of a step the optimizer takes.");
    if (share < kWorthFixing)
        return silent(
            fmt::format("Only {} of a step does not grow with the batch (optimizer and zeroing).", shareText(share)));
    const auto use = memoryUse(c);
    if (use && use->share() > kRoom)
        return silent(
            fmt::format("Memory was {} full: a batch twice as large would hardly fit.", shareText(use->share())));
    if (!use && hasDeviceWork(c.trace))
        return cannotTell(memoryNotRecorded(c));
    Advice advice = fires(fmt::format(
        "{} of each step goes over the weights (optimizer and zeroing), however many samples the batch has.",
        shareText(share)));
    advice.concerns = share;
    if (hasDeviceWork(c.trace)) {
        advice.whyNoPrediction = "How much faster larger kernels are is not in this trace: measure it.";
    } else {
        // Half of it goes with twice the batch, per sample; what larger tensors cost in cache is not in a trace.
        std::vector<double> halves;
        for (const Step& step : c.facts.steps)
            if (isSteady(step))
                halves.push_back(toUs(step.parts.optimizer + step.parts.zeroGrad) / 2);
        advice.saving = spreadOverSteps(std::move(halves));
    }
    advice.caveats = {"Until memory is out: batch.find_max searches for it.",
                      "Double the batch, double the rate, with a warm-up: see optimizer.lr_scaling. Very large batches "
                      "may generalise worse."};
    setToggle(advice, c, kKey, c.config ? config::toText(2 * (*c.config)[config::key::batchSize]) : "");
    std::vector<Slice> phases = c.trace.ofKind(ActivityKind::Phase);
    std::erase_if(phases, [&](const Slice& slice) { return c.trace.name(slice) != phase::kOptimizer; });
    for (const Slice& slice : phases)
        if (advice.evidence.size() < kMostEvidence)
            advice.evidence.push_back(evidenceOf(c.trace, slice.id));
    if (advice.evidence.empty())
        addSteps(advice, c);
    return advice;
}

} // namespace

Rule batch_size()
{
    return {kKey, "Small batches pay the costs of a step often", check};
}

} // namespace advisor::rules
