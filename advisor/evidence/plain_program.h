#pragma once

#include "advisor/evidence/gpu_facts.h"

#include <cstdint>
#include <vector>

/// Evidence for programs that show no sign of training, such as a CUDA program without NVTX ranges recorded with Nsight
/// Systems: no steps, operators, phases or ranges, only kernels, copies and API calls.
namespace advisor {

/// True for the trace of such a program, if a device ran kernels in it.
bool isPlainProgram(const RuleContext& c);

/// Copies between the host and devices during the whole time in which the devices worked.
struct HostCopies {
    std::vector<profiler::Slice> copies; ///< longest first
    std::vector<OnDevice> devices;       ///< the copies of each device and its own kernels
    std::int64_t bytesToDevice = 0, bytesToHost = 0;
    profiler::Nanoseconds time{}; ///< sum over all copies and devices

    [[nodiscard]] double gbPerSecond() const
    {
        return time.count() > 0 ? static_cast<double>(bytesToDevice + bytesToHost) / static_cast<double>(time.count())
                                : 0;
    }
};
/// All copies, or only those with pageable host memory that move at least `atLeast` bytes.
HostCopies hostCopies(const RuleContext& c);
HostCopies pageableHostCopies(const RuleContext& c, std::int64_t atLeast);

} // namespace advisor
