#include "advisor/debug_tool.h"

namespace advisor::rules {
namespace {

constexpr DebugTool kTool = {"debug.gradgradcheck",
                             "No second-order gradient is checked numerically.",
                             "Gradients of gradients are compared with finite differences while training.",
                             "Check a function that is differentiated twice once, in a test.",
                             "epoch",
                             savedInFirstSteps};

Advice check(const Case& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_gradgradcheck()
{
    return {kTool.key, "Second-order gradients are checked numerically", check};
}

} // namespace advisor::rules
