#include "advisor/evidence/debug_tool.h"

namespace advisor::rules {
namespace {

constexpr DebugTool kTool = {
    "debug.gradcheck",
    [] { return message<"debug.gradcheck.off", "gradcheck is off.">(); },
    [] {
        return message<"debug.gradcheck.on", "gradcheck compares gradients with finite differences during training.">();
    },
    [] { return message<"debug.gradcheck.caveat", "Check a custom backward function once, in a unit test.">(); },
    "epoch",
    nullptr,
    costOfFirstSteps};

Advice check(const RuleContext& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_gradcheck()
{
    return proposing("false", {kTool.key, "Gradients are checked numerically", check, Needs::Steps, kHostWork});
}

} // namespace advisor::rules
