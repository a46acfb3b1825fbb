#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "data.normalize";
Advice check(const RuleContext& c)
{
    if (!c.config)
        return cannotTell(message<"data.normalize.no_configuration",
                                  "The trace contains no configuration: whether inputs are normalized is unknown.">(),
                          Need::Program);
    if ((*c.config)[config::key::normalize])
        return silent(message<"data.normalize.on", "Inputs already have mean 0 and standard deviation 1.">());
    Advice advice = firesOnLearning(
        message<"data.normalize.off", "Inputs are used as stored: the first layers have to learn their scale.">());
    advice.caveats = {
        message<"data.normalize.leak",
                "Compute the statistics from training samples only; validation samples must not leak in.">(),
        message<"data.normalize.pretrained", "A pretrained model expects the statistics of its own training data.">()};
    setToggle(advice, c, kKey, "true");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule data_normalize()
{
    return proposing("true", {kKey, "Inputs are not normalized", check});
}

} // namespace advisor::rules
