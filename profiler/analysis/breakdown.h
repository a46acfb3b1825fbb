#pragma once

#include "profiler/analysis/activity_scan.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// What a moment of a step is counted as: the first that fits.
enum class TimeClass { Kernel, Memcpy, Memset, Communication, Runtime, DataLoader, CpuOp, Other };
inline constexpr std::size_t kTimeClasses = 8;
/// "kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_op", "other".
std::string_view timeClassName(TimeClass timeClass);

/// Exclusive shares of the steps' time, in TimeClass order; they sum to 1. All zero without steps.
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

/// Over the union of the steps' intervals. Kernel: without communication kernels. DataLoader: our "data wait" phases,
/// and ranges of the PyTorch profiler that begin with "enumerate(DataLoader)". CpuOp: operators, the other phases of a
/// step, and annotations inside one, on host threads that are no loader workers; so in a trace of the CPU, where
/// nothing above it is recorded, it is the computing. An annotation around a whole step, as a chosen mark is, tells
/// nothing. Source: the order of PyTorch's retired TensorBoard plug-in, which counts annotations as operators.
/// @param scan  of `trace`
Breakdown breakdown(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps);

} // namespace profiler::analysis
