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

Advice finding(const Case& c, Message reason, std::string to)
{
    Advice advice = firesOnLearning(std::move(reason));
    advice.caveats = {
        message<"optimizer.kind.learning_rate",
                "Another optimizer needs another learning rate: find it first (schedule.kind=range_test).">(),
        message<"optimizer.kind.weight_decay", "Decoupled weight decay is not L2: choose its value again.">()};
    setToggle(advice, c, kKey, std::move(to));
    addSteps(advice, c);
    return advice;
}

Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell(message<"optimizer.kind.no_configuration",
                                  "The trace contains no configuration: the optimizer's settings are unknown.">());
    const std::string& optimizer = (*c.config)[config::key::optimizer];
    const double batch = samplesOfAStep(*c.config);
    const bool plain = optimizer == "sgd" || optimizer == "adam" || optimizer == "adamw";
    if (batch > kLargeBatch && plain)
        return finding(c,
                       message<"optimizer.kind.large_batch",
                               "{samples} samples per step are more than {optimizer} scales to; optimizers "
                               "with a rate per layer are made for such batches.">(
                           {{"samples", batch, countText(batch)}, {"optimizer", optimizer}}),
                       optimizer == "sgd" ? "lars" : "lamb");
    if (optimizer == "adam" && (*c.config)[config::key::weightDecay] > 0)
        return finding(c,
                       message<"optimizer.kind.adam_decay",
                               "Adam scales weight decay by the gradients' magnitude, so weights with large "
                               "gradients hardly decay; AdamW decouples the two.">(),
                       "adamw");
    return silent(message<"optimizer.kind.suits", "{optimizer} suits {samples} samples per step.">(
        {{"optimizer", optimizer}, {"samples", batch, countText(batch)}}));
}

} // namespace

Rule optimizer_kind()
{
    return {kKey, "Another optimizer suits this batch", check};
}

} // namespace advisor::rules
