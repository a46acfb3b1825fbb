#include "advisor/batch_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "optimizer.weight_decay";
// From here on a batch averages away most of the noise that used to keep weights small.
constexpr double kGrown = 4;

Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell(message<"optimizer.weight_decay.no_configuration",
                                  "The trace contains no configuration: the weight decay is unknown.">());
    const double decay = (*c.config)[config::key::weightDecay];
    const double times = timesTheReferenceBatch(*c.config);
    if (decay > 0 && times < kGrown)
        return silent(message<"optimizer.weight_decay.suits",
                              "The weight decay is {decay}, with {times} times the reference batch.">(
            {{"decay", decay, fmt::format("{:.3g}", decay)}, {"times", times, fmt::format("{:.3g}", times)}}));
    const std::string& optimizer = (*c.config)[config::key::optimizer];
    const bool decoupled = optimizer != "sgd" && optimizer != "adam";
    Advice advice = firesOnLearning(
        decay > 0
            ? message<
                  "optimizer.weight_decay.large_batch",
                  "The batch is {times} times the reference batch, for which the weight decay of {decay} was chosen: "
                  "batch, rate and decay are tuned together.">(
                  {{"times", times, fmt::format("{:.3g}", times)}, {"decay", decay, fmt::format("{:.3g}", decay)}})
            : message<"optimizer.weight_decay.none", "The weight decay is 0: nothing regularizes the weights.">());
    advice.caveats = {
        message<"optimizer.weight_decay.hyperparameter",
                "It is a hyperparameter: another value may be better, and small models may need none.">(),
        message<"optimizer.weight_decay.l2",
                "With Adam it is L2 regularization; AdamW, LARS and LAMB decouple it from the gradient.">()};
    // As large as the documents' examples have it; doubled where there is one.
    setToggle(advice, c, kKey, decay > 0 ? config::toText(2 * decay) : decoupled ? "0.01" : "0.0005");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule optimizer_weight_decay()
{
    return {kKey, "Weights are not decayed", check};
}

} // namespace advisor::rules
