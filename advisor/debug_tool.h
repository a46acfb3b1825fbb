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
    /// What of the time outside of phases is the tool's, and how sure that is; no value where the trace does not tell.
    std::optional<Saving> (*saving)(const Case&) = nullptr;
};
Advice checkDebugTool(const Case& c, const DebugTool& tool);

/// What a tool saves that works in the first step of each epoch: the time that this step spends outside of its phases
/// beyond the usual, as a mean over the epochs. The first of three epochs or more warms up and is left out. No value
/// with a single epoch, which does not show how much it varies, or where a device hides some of it.
std::optional<Saving> savedInFirstSteps(const Case& c);

/// The trace marks the phases of its steps, and so what the host does besides them.
bool showsWhatLiesOutside(const Case& c);

} // namespace advisor
