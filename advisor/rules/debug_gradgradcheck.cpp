#include "advisor/evidence/debug_tool.h"

namespace advisor::rules {
namespace {

constexpr DebugTool kTool = {
    "debug.gradgradcheck",
    [] { return message<"debug.gradgradcheck.off", "gradgradcheck is off.">(); },
    [] {
        return message<"debug.gradgradcheck.on",
                       "gradgradcheck compares second-order gradients with finite differences "
                       "during training.">();
    },
    [] {
        return message<"debug.gradgradcheck.caveat",
                       "If a function is differentiated twice, check it once, in a unit test.">();
    },
    "epoch",
    nullptr,
    costOfFirstSteps};

Advice check(const RuleContext& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_gradgradcheck()
{
    return proposing("false",
                     {kTool.key, "Second-order gradients are checked numerically", check, Needs::Steps, kHostWork});
}

} // namespace advisor::rules
