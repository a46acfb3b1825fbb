#include "advisor/batch_facts.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "optimizer.kind";
// Source: You et al., Large Batch Training of Convolutional Networks, 2017: up to 8,192 samples SGD with a scaled rate
// keeps up; beyond, LARS does.
constexpr double kLargeBatch = 8192;

Advice finding(const Case& c, std::string reason, std::string to)
{
    Advice advice = firesOnLearning(std::move(reason));
    advice.caveats = {"Another optimizer wants another learning rate: find it first (schedule.kind=range_test).",
                      "Decoupled weight decay is not L2: its value has to be chosen anew."};
    setToggle(advice, c, kKey, std::move(to));
    addSteps(advice, c);
    return advice;
}

Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell("The trace holds no configuration: the optimizer's settings are not recorded.");
    const std::string& optimizer = (*c.config)[config::key::optimizer];
    const double batch = samplesOfAStep(*c.config);
    const bool plain = optimizer == "sgd" || optimizer == "adam" || optimizer == "adamw";
    if (batch > kLargeBatch && plain)
        return finding(
            c,
            fmt::format("{} samples in a step are more than {} keeps up with; optimizers with a rate for each layer "
                        "were made for that.",
                        countText(batch), optimizer),
            optimizer == "sgd" ? "lars" : "lamb");
    if (optimizer == "adam" && (*c.config)[config::key::weightDecay] > 0)
        return finding(
            c,
            "Adam divides its weight decay by the gradients' size, so that it hardly decays what has large ones; AdamW "
            "does not.",
            "adamw");
    return silent(fmt::format("{} suits {} samples in a step.", optimizer, countText(batch)));
}

} // namespace

Rule optimizer_kind()
{
    return {kKey, "Another optimizer suits this batch", check};
}

} // namespace advisor::rules
