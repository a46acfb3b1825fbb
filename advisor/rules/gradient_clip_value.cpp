#include "advisor/loss_curve.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "gradient.clip_value";
Advice check(const Case& c)
{
    const LossCurve curve = lossCurve(c);
    if (curve.samples.empty())
        return cannotTell("The trace does not record the loss.");
    if (!c.config)
        return cannotTell("The trace holds no configuration: whether gradients are clipped is not recorded.");
    if ((*c.config)[config::key::clipValue] > 0)
        return silent("Gradients are clipped already.");
    if (!((*c.config)[config::key::clipNorm] > 0))
        return silent("The norm of all gradients together comes first: see gradient.clip_norm.");
    const auto spikes = curve.spikes();
    if (spikes.empty())
        return silent(fmt::format("None of {} values of the loss stands out.", curve.samples.size()));
    Advice advice =
        fires(fmt::format("{} of {} values of the loss stand out from those before, although the norm is clipped.",
                          spikes.size(), curve.samples.size()));
    advice.judgedBy = JudgedBy::Convergence;
    advice.whyNoPrediction = "How fast a training converges is measured, never predicted.";
    advice.caveats = {"A hyper-parameter: 1 is usual for transformers, 10 to 100 elsewhere.",
                      "It changes the direction of the gradient, which clipping the norm does not."};
    setToggle(advice, c, kKey, "1");
    advice.evidence = evidenceOf(c, curve, spikes);
    return advice;
}

} // namespace

Rule gradient_clip_value()
{
    return {kKey, "The loss jumps although the norm is clipped", check};
}

} // namespace advisor::rules
