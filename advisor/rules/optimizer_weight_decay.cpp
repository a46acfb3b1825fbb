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
        return cannotTell("The trace holds no configuration: the weight decay is not recorded.");
    const double decay = (*c.config)[config::key::weightDecay];
    const double times = timesTheReferenceBatch(*c.config);
    if (decay > 0 && times < kGrown)
        return silent(fmt::format("Weights decay by {:.3g}, with {:.3g} times the reference batch.", decay, times));
    const std::string& optimizer = (*c.config)[config::key::optimizer];
    const bool decoupled = optimizer != "sgd" && optimizer != "adam";
    Advice advice = firesOnLearning(
        decay > 0
            ? fmt::format("The batch is {:.3g} times the reference batch, and the weight decay of {:.3g} is that of "
                          "the smaller one: batch, rate and decay are tuned together.",
                          times, decay)
            : std::string("Nothing holds the weights back: the weight decay is 0."));
    advice.caveats = {"A hyper-parameter: another value may be better, and small models may want none.",
                      "With Adam it is L2, not decay; AdamW, LARS and LAMB decouple it from the gradient."};
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
