#include "advisor/loss_curve.h"
#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.clip_value";

Advice check(const Case& c)
{
    Advice advice = adviseOnSpikes(c, config::key::clipValue);
    if (advice.state != State::Fires)
        return advice;
    if (!((*c.config)[config::key::clipNorm] > 0))
        return silent("The norm of all gradients together comes first: see gradient.clip_norm.");
    advice.reason.text.back() = ',';
    advice.reason.text += " although the norm is clipped.";
    advice.caveats = {"A hyper-parameter: 1 is usual for transformers, 10 to 100 elsewhere.",
                      "It changes the direction of the gradient, which clipping the norm does not."};
    setToggle(advice, c, kKey, "1");
    return advice;
}

} // namespace

Rule gradient_clip_value()
{
    return {kKey, "The loss jumps although the norm is clipped", check, Needs::Run};
}

} // namespace advisor::rules
