#pragma once

#include "advisor/gpu_facts.h"

#include <cstdint>
#include <vector>

/// Evidence for programs that are no training as far as the trace tells, as an export of Nsight Systems of a CUDA
/// program without NVTX ranges is: no steps, no operators, no phases, no ranges; kernels, copies and calls.
namespace advisor {

/// True for such a program's trace, if a device ran kernels in it.
bool isPlainProgram(const RuleContext& c);

/// Copies between the host and devices, over the whole time in which the devices worked.
struct HostCopies {
    std::vector<profiler::Slice> copies; ///< longest first
    std::vector<OnDevice> devices;       ///< each device's copies against its own kernels
    std::int64_t bytesToDevice = 0, bytesToHost = 0;
    profiler::Nanoseconds time{}; ///< summed, over devices too

    [[nodiscard]] double gbPerSecond() const
    {
        return time.count() > 0 ? static_cast<double>(bytesToDevice + bytesToHost) / static_cast<double>(time.count())
                                : 0;
    }
};
/// All of them, or those alone whose host memory is pageable and that move at least `atLeast` bytes.
HostCopies hostCopies(const RuleContext& c);
HostCopies pageableHostCopies(const RuleContext& c, std::int64_t atLeast);

} // namespace advisor
