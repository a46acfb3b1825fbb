#include "advisor/verdict.h"

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "data.normalize";
Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell("The trace holds no configuration: whether inputs are normalised is not recorded.");
    if ((*c.config)[config::key::normalize])
        return silent("Inputs have mean 0 and deviation 1 already.");
    Advice advice = firesOnLearning("Inputs are taken as they are stored: the first layers have to learn their scale.");
    advice.caveats = {"Statistics of the training samples only: those of the validation must not leak in.",
                      "A model that was trained on other inputs expects theirs."};
    setToggle(advice, c, kKey, "true");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule data_normalize()
{
    return {kKey, "Inputs are not normalised", check};
}

} // namespace advisor::rules
