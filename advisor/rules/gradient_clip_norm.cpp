#include "advisor/loss_curve.h"
#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.clip_norm";

Advice check(const Case& c)
{
    Advice advice = adviseOnSpikes(c, config::key::clipNorm);
    if (advice.state != State::Fires)
        return advice;
    advice.caveats = {"A hyper-parameter: 1 is usual for transformers, 10 to 100 elsewhere.",
                      "The norm has to be read from the device in each step."};
    setToggle(advice, c, kKey, "1");
    return advice;
}

} // namespace

Rule gradient_clip_norm()
{
    return {kKey, "The loss jumps", check, Needs::Run};
}

} // namespace advisor::rules
