#pragma once

#include "advisor/gpu_facts.h"

#include <span>
#include <vector>

namespace advisor {

/// Kernels of NCCL and RCCL in the judged window, against all others of their device.
struct CommunicationUse {
    std::vector<profiler::Slice> kernels; ///< longest first
    std::vector<OnDevice> devices;        ///< that communicate, inside the window
};
/// Share of such work that other kernels hide, [0, 1].
double overlapOf(std::span<const OnDevice> devices);
CommunicationUse communicationUse(const RuleContext& c);

} // namespace advisor
