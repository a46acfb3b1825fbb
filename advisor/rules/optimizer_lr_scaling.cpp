#include "advisor/knob_changes.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "optimizer.lr_scaling";
// Below twice the reference batch, the learning rate is within the accuracy of any tuning.
constexpr double kGrown = 2;

Advice check(const RuleContext& c)
{
    if (!c.config)
        return cannotTell(message<"optimizer.lr_scaling.no_configuration",
                                  "The trace contains no configuration: batch size and learning rate are unknown.">(),
                          Need::Program);
    if ((*c.config)[config::key::lrScaling] != "none")
        return silent(message<"optimizer.lr_scaling.on", "The learning rate already scales with the batch size.">());
    const double times = timesTheReferenceBatch(*c.config);
    if (times < kGrown)
        return silent(message<"optimizer.lr_scaling.small",
                              "The batch per step is {times} times the one for which the learning rate was chosen.">(
            {{"times", times, fmt::format("{:.3g}", times)}}));
    const std::string& optimizer = (*c.config)[config::key::optimizer];
    const bool linear = optimizer == "sgd" || optimizer == "lars";
    Advice advice = firesOnLearning(
        message<"optimizer.lr_scaling.large_batch",
                "The batch per step is {times} times the one for which the learning rate was chosen: training makes "
                "fewer updates of the same size.">({{"times", times, fmt::format("{:.3g}", times)}}));
    advice.caveats = {
        message<"optimizer.lr_scaling.warmup",
                "Use a warm-up: the first steps with a large learning rate can diverge (schedule.warmup_steps).">(),
        message<"optimizer.lr_scaling.generalization",
                "Very large batches may generalize worse at any learning rate.">()};
    setToggle(advice, c, kKey, linear ? "linear" : "sqrt");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule optimizer_lr_scaling()
{
    return proposing("linear", {kKey, "Learning rate is not scaled with batch size", check});
}

} // namespace advisor::rules
