#pragma once

#include "advisor/rule.h"

#include <string_view>

namespace advisor {

/// A debug tool that leaves no mark of its own in a trace: whether it is on is known from the configuration alone.
struct DebugTool {
    std::string_view key, isOff, isOn, caveat;
    std::string_view measure = "steps"; ///< as Advice::measure
};
Advice checkDebugTool(const Case& c, const DebugTool& tool);

} // namespace advisor
