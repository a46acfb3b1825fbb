#include "advisor/evidence/loss_curve.h"
#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.clip_value";

Advice check(const RuleContext& c)
{
    Advice advice = adviseOnSpikes(c, config::key::clipValue);
    if (advice.state != State::Fires)
        return advice;
    if (!((*c.config)[config::key::clipNorm] > 0))
        return silent(
            message<"gradient.clip_value.norm_first", "Clip the gradient norm first: see gradient.clip_norm.">());
    advice.reason = message<"gradient.clip_value.spikes",
                            "{spikes} of {values} loss values are spikes although the gradient norm is clipped.">(
        {*advice.reason.find("spikes"), *advice.reason.find("values")});
    advice.caveats = {message<"gradient.clip.value_to_choose",
                              "The threshold is a hyperparameter: 1 is common for transformers, 10 to "
                              "100 for other models.">(),
                      message<"gradient.clip_value.direction",
                              "Clipping values changes the gradient's direction; clipping the norm does not.">()};
    setToggle(advice, c, kKey, "1");
    return advice;
}

} // namespace

Rule gradient_clip_value()
{
    return {kKey, "Loss has spikes although the norm is clipped", check, Needs::Run};
}

} // namespace advisor::rules
