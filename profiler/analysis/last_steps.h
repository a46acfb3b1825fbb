#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace profiler::analysis {

/// How many steps are the last ones: as many as `steps`, fewer where they hold more than `slices`, but `least` of them.
struct LastStepsLimit {
    std::size_t steps = 120, slices = 10'000, least = 20;
};

/// The last steps of a training that goes on, which stand for it as it is now.
struct LastSteps {
    TraceTime begin{};       ///< of the first of them
    std::int64_t count = 0;  ///< the one that is under way among them
    std::int64_t newest = 0; ///< index of the last of them
};

/// By our own marks (slices of kind Step), of the thread that has most of them lately. No value where the trace has no
/// such marks, or hardly more of them than the last ones would be.
/// Cost: the newest blocks of the tracks that hold marks, however long the trace is.
std::optional<LastSteps> lastSteps(const Trace& trace, const LastStepsLimit& limit = {});

} // namespace profiler::analysis
