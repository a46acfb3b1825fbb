#include "advisor/batch_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "optimizer.lr_scaling";
// Double the batch, double the rate: below that the rate is within what any tuning leaves.
constexpr double kGrown = 2;

Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell("The trace holds no configuration: batch and learning rate are not recorded.");
    if ((*c.config)[config::key::lrScaling] != "none")
        return silent("The learning rate grows with the batch already.");
    const double times = timesTheReferenceBatch(*c.config);
    if (times < kGrown)
        return silent(
            fmt::format("A step's batch is {:.3g} times the one that the learning rate is meant for.", times));
    const std::string& optimizer = (*c.config)[config::key::optimizer];
    const bool linear = optimizer == "sgd" || optimizer == "lars";
    Advice advice = firesOnLearning(
        fmt::format("A step's batch is {:.3g} times the one that the learning rate was chosen for: fewer, equally "
                    "short steps are made.",
                    times));
    advice.caveats = {"With a warm-up: the first steps at a large rate diverge (schedule.warmup_steps).",
                      "Very large batches may generalise worse whatever the rate."};
    setToggle(advice, c, kKey, linear ? "linear" : "sqrt");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule optimizer_lr_scaling()
{
    return {kKey, "The rate was not scaled with the batch", check};
}

} // namespace advisor::rules
