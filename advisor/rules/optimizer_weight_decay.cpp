#include "advisor/evidence/program_values.h"
#include "advisor/knob_changes.h"
#include "advisor/verdict.h"

#include <fmt/format.h>
#include <string>
#include <vector>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "optimizer.weight_decay";
// Multiple of the reference batch. Chosen: gradient noise falls with the square root of the batch size, so four times
// the batch halves the noise that regularized the weights.
constexpr double kGrown = 4;

Message noDecay()
{
    return message<"optimizer.weight_decay.none",
                   "The weight decay is 0: the optimizer does not regularize the weights.">();
}

std::vector<Message> caveats()
{
    return {message<"optimizer.weight_decay.hyperparameter",
                    "It is a hyperparameter: another value may be better, and small models may need none.">(),
            message<"optimizer.weight_decay.l2",
                    "With Adam, it is L2 regularization; AdamW, LARS and LAMB decouple it from the gradient.">()};
}

/// The value that the examples in the documentation use.
std::string usualDecay(bool decoupled)
{
    return decoupled ? "0.01" : "0.0005";
}

/// For a recorded program, the batch size for which its weight decay was chosen is unknown.
Advice ofProgram(const RuleContext& c)
{
    const ProgramValues& values = c.recordedValues();
    if (!values.weightDecay)
        return cannotTell(
            message<"optimizer.weight_decay.not_recorded", "The trace does not record the optimizer's weight decay.">(),
            Need::Program);
    if (*values.weightDecay > 0)
        return silent(message<"optimizer.weight_decay.set", "The weight decay is {decay}.">(
            {{"decay", *values.weightDecay, fmt::format("{:.3g}", *values.weightDecay)}}));
    // Many programs are right to have none, and a trace does not show what regularization would change.
    return cannotTell(noDecay(), Need::Measurement);
}

Advice check(const RuleContext& c)
{
    if (!c.config)
        return ofProgram(c);
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
            ? message<"optimizer.weight_decay.large_batch",
                      "The batch is {times} times the reference batch, for which the weight decay of {decay} was "
                      "chosen: batch size, learning rate and weight decay are tuned together.">(
                  {{"times", times, fmt::format("{:.3g}", times)}, {"decay", decay, fmt::format("{:.3g}", decay)}})
            : noDecay());
    advice.caveats = caveats();
    setToggle(advice, c, kKey, decay > 0 ? config::toText(2 * decay) : usualDecay(decoupled));
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule optimizer_weight_decay()
{
    return {kKey, "Weight decay is not used or not adjusted", check};
}

} // namespace advisor::rules
