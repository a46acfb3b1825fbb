#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace profiler::analysis {

/// Limits for the last steps: at most `steps`; fewer if they contain more than `slices`, but never fewer than `least`.
struct LastStepsLimit {
    std::size_t steps = 120, slices = 10'000, least = 20;
};

/// The last steps of a training in progress, which represent its current state.
struct LastSteps {
    TraceTime begin{};       ///< start of the first of these steps
    std::int64_t count = 0;  ///< including the step in progress
    std::int64_t newest = 0; ///< index of the last of these steps
};

/// Uses our own marks (slices of kind Step) on the thread with the most recent ones. Empty if the trace has no such
/// marks, or hardly more than the limit.
/// Cost: reads only the newest blocks of the tracks with marks, however long the trace is.
std::optional<LastSteps> lastSteps(const Trace& trace, const LastStepsLimit& limit = {});

} // namespace profiler::analysis
