#pragma once

#include "advisor/rule.h"

#include <optional>
#include <string_view>

namespace advisor {

/// A debug tool that leaves no mark of its own in a trace: whether it is on is known from the configuration alone. What
/// it does lies in no phase of a step.
struct DebugTool {
    std::string_view key;
    profiler::Message (*isOff)();
    profiler::Message (*isOn)();
    profiler::Message (*caveat)();
    std::string_view measure = "steps"; ///< as Advice::measure
    /// The tool's part of the time outside the phases; no value where the trace does not show it.
    std::optional<Saving> (*saving)(const RuleContext&) = nullptr;
    /// Why there is no such estimate; empty: the usual reason.
    profiler::Message (*whyNoPrediction)(const RuleContext&) = nullptr;
};
Advice checkDebugTool(const RuleContext& c, const DebugTool& tool);

/// Why nothing is predicted of a tool that works in the first step of each epoch, with the time that this step spends
/// outside its phases beyond the usual. That time is not what the tool costs: measured, the steps that follow a numerical
/// check take 12 % longer than without it (the check's many small allocations leave the heap in pieces).
profiler::Message costOfFirstSteps(const RuleContext& c);

/// The trace marks the phases of its steps, and so what the host does besides them.
bool showsWhatLiesOutside(const RuleContext& c);

} // namespace advisor
