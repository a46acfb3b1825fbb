#include "advisor/debug_tool.h"

namespace advisor::rules {
namespace {

constexpr DebugTool kTool = {"debug.gradcheck",
                             "No gradient is checked numerically.",
                             "Gradients are compared with finite differences while training.",
                             "Check a backward function of your own once, in a test.",
                             "epoch",
                             savedInFirstSteps};

Advice check(const Case& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_gradcheck()
{
    return {kTool.key, "Gradients are checked numerically", check};
}

} // namespace advisor::rules
