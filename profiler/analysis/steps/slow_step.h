#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/message.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// What a step spends time on. At each moment, the first part that applies counts.
enum class StepTimePart : std::uint8_t {
    Validation,
    Checkpoint,
    GarbageCollection, ///< of Python
    DataWait,
    CodeLoading, ///< loading kernel code, compiling
    Allocation,  ///< calls that request memory from the driver or return it
    Kernel,
    Communication,
    Copy,
    Memset,
    Sync,     ///< the host waits for a device that does nothing
    HostWork, ///< operators and CUDA calls while no device works
    Idle,     ///< nothing of the above is recorded
};
inline constexpr std::size_t kStepTimeParts = static_cast<std::size_t>(StepTimePart::Idle) + 1;

/// One cause of a step that takes longer than usual.
struct SlowStepCause {
    StepTimePart part{};
    Message reason;       ///< in words, with its time
    Nanoseconds excess{}; ///< time beyond the median of the part, at most what other causes leave of SlowStep::excess
    TimeRange where;      ///< the longest stretch of it within the step
    std::optional<SliceId> slice; ///< the longest kernel of the named ones
};

/// Why a step takes longer than the median step.
struct SlowStep {
    Step step;
    Nanoseconds usual{};               ///< median duration of the comparable steps
    Nanoseconds excess{};              ///< duration − usual; 0 if the step is not longer
    std::vector<SlowStepCause> causes; ///< at most three, largest first; their sum never exceeds `excess`
    Nanoseconds unexplained{};         ///< excess − the causes
    std::size_t comparedWith = 0;      ///< number of comparable steps: steady ones, or all complete ones if none is
};

/// Compares each part of the step's time, in wall time, with the median of the comparable steps. If counters of the
/// process show that threads were preempted or faulted at twice the usual rate, host work and idle time name that.
/// Kernels and operators are named if one name explains at least half of their part.
/// O(slices); do not call on a GUI thread.
/// @param which  index in `steps`
/// @param scan   of `trace`
/// @param stop   checked between passes; after a stop, the result is meaningless
SlowStep whyStepIsSlow(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps, std::size_t which,
                       const std::stop_token& stop = {});

/// Positions of the steps that stand out: steady steps longer than the median by a quarter and by 250 µs, as in the
/// rule step.variance.
std::vector<std::size_t> slowSteps(const std::vector<Step>& steps);

} // namespace profiler::analysis
