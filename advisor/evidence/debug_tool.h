#pragma once

#include "advisor/rule.h"

#include <optional>
#include <string_view>

namespace advisor {

/// A debug tool that a trace does not show directly: only the configuration says whether it is on. It works outside the
/// phases of a step.
struct DebugTool {
    std::string_view key;
    profiler::Message (*isOff)();
    profiler::Message (*isOn)();
    profiler::Message (*caveat)();
    std::string_view measure = "steps"; ///< same values as Advice::measure
    /// The tool's share of the time outside phases; no value if the trace does not show it.
    std::optional<Saving> (*saving)(const RuleContext&) = nullptr;
    /// Why there is no such estimate; empty: the default reason.
    profiler::Message (*whyNoPrediction)(const RuleContext&) = nullptr;
};
Advice checkDebugTool(const RuleContext& c, const DebugTool& tool);

/// Why there is no estimate for a tool that works in the first step of each epoch, with the extra time that this step
/// spends outside its phases. That time may not be the whole cost of the tool: in one pair of recordings, the steps
/// after a numerical check were 12 % slower than without it.
profiler::Message costOfFirstSteps(const RuleContext& c);

/// True if the trace marks the phases of its steps, so that other host work is visible.
bool marksPhases(const RuleContext& c);

} // namespace advisor
