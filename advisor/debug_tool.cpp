#include "advisor/debug_tool.h"

#include "advisor/run_facts.h"
#include "advisor/verdict.h"

namespace advisor {

Advice checkDebugTool(const Case& c, const DebugTool& tool)
{
    const auto configured = setting(c, tool.key);
    if (!configured)
        return cannotTell("The trace holds no configuration, and the tool leaves no mark of its own.");
    if (*configured == "false")
        return silent(std::string(tool.isOff));
    Advice advice = fires(std::string(tool.isOn));
    advice.whyNoPrediction = "The trace has no step without it to compare with: measure it.";
    advice.caveats = {std::string(tool.caveat)};
    advice.measure = tool.measure;
    setToggle(advice, c, tool.key, "false");
    addSteps(advice, c);
    return advice;
}

} // namespace advisor
