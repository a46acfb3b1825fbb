#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "work.unused";
using namespace profiler::analysis;

Advice check(const Case& c)
{
    if (!c.config)
        return cannotTell("The trace does not record what becomes of results.");
    if (!(*c.config)[config::key::unusedWork])
        return silent("Nothing is computed that is not used, by the configuration.");
    Advice advice = fires(
        "Gradients of the inputs and of frozen layers, and outputs that nobody reads, are computed in each step.");
    advice.whyNoPrediction = "Which operators are the unneeded ones is not recorded: measure it.";
    advice.caveats = {"The results stay the same only if really nobody reads what goes.",
                      "A layer that is frozen now and trained later must get its gradients back."};
    setToggle(advice, c, kKey, "false");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule work_unused()
{
    return {kKey, "Work is done that nobody needs", check};
}

} // namespace advisor::rules
