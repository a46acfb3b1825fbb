#include "advisor/evidence/loss_curve.h"
#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.clip_norm";

Advice check(const RuleContext& c)
{
    Advice advice = adviseOnSpikes(c, config::key::clipNorm);
    if (advice.state != State::Fires)
        return advice;
    advice.caveats = {
        message<"gradient.clip.value_to_choose",
                "The threshold is a hyperparameter: 1 is common for transformers, 10 to "
                "100 for other models.">(),
        message<"gradient.clip_norm.reads_norm", "The gradient norm has to be read from the device in every step.">()};
    setToggle(advice, c, kKey, "1");
    return advice;
}

} // namespace

Rule gradient_clip_norm()
{
    return proposing("1", {kKey, "The loss has spikes", check, Needs::Run});
}

} // namespace advisor::rules
