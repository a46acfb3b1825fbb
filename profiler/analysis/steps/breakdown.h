#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What the time is spent on: within steps by category, and between steps by phase.
namespace profiler::analysis {

/// Categories of step time. At each moment, the first category that applies counts.
enum class TimeClass { Kernel, Memcpy, Memset, Communication, Runtime, DataLoader, CpuOp, Other };
inline constexpr std::size_t kTimeClasses = 8;
/// "kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_op", "other".
std::string_view timeClassName(TimeClass timeClass);

/// Exclusive shares of the steps' time, in TimeClass order; their sum is 1. All zero without steps.
struct Breakdown {
    std::array<Nanoseconds, kTimeClasses> time{};
    Nanoseconds total{};
    [[nodiscard]] double share(TimeClass timeClass) const
    {
        return total.count() > 0 ? static_cast<double>(time[static_cast<std::size_t>(timeClass)].count()) /
                                       static_cast<double>(total.count())
                                 : 0;
    }
};

/// Divides the union of the steps' intervals. Kernel: without communication kernels. DataLoader: our "data wait"
/// phases, and ranges of the PyTorch profiler that start with "enumerate(DataLoader)". CpuOp: operators, other phases
/// of a step, and annotations inside a step, on host threads that are not loader workers. In a trace of the CPU only,
/// where none of the categories above it is recorded, CpuOp is therefore the compute time. An annotation around a whole
/// step, such as a chosen step range, does not count. Source: the order of PyTorch's retired TensorBoard plug-in, which
/// counts annotations as operators.
/// @param scan  of `trace`
Breakdown breakdown(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps);

/// What a process does between its steps: validation, generation, checkpoints.
struct BetweenSteps {
    struct Phase {
        std::string name; ///< "validation"
        std::int64_t count = 0;
        Nanoseconds time{};
    };
    Nanoseconds span{};        ///< from the start of the first step to the end of the last one
    Nanoseconds time{};        ///< the part of it outside of all steps
    std::vector<Phase> phases; ///< what is known of `time`, longest first
    Nanoseconds other{};       ///< the rest of `time`

    /// The share of `time` in `span`, [0, 1].
    [[nodiscard]] double share() const
    {
        return span.count() > 0 ? static_cast<double>(time.count()) / static_cast<double>(span.count()) : 0;
    }
};

/// Below this share, the time between steps explains nothing about a run. Chosen.
inline constexpr double kLeastBetweenSteps = 0.02;

/// Phases are listed only if the share is at least kLeastBetweenSteps. The time of nested phases counts for the
/// outermost one. O(phases · log).
BetweenSteps betweenSteps(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
