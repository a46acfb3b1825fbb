#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

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

} // namespace profiler::analysis
