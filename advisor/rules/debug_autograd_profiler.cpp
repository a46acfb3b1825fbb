#include "advisor/debug_tool.h"

namespace advisor::rules {
namespace {

constexpr DebugTool kTool = {"debug.autograd_profiler", "The autograd profiler is off.",
                             "The autograd profiler records every operator of every step.",
                             "A few recorded steps are enough to see where the time goes."};

Advice check(const Case& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_autograd_profiler()
{
    return {kTool.key, "The autograd profiler is on", check};
}

} // namespace advisor::rules
