#pragma once

#include "advisor/evidence/gpu_facts.h"

#include <span>
#include <vector>

namespace advisor {

/// NCCL and RCCL kernels in the analysis window, and the other kernels of their devices.
struct CommunicationUse {
    std::vector<profiler::Slice> kernels; ///< longest first
    std::vector<OnDevice> devices;        ///< the devices that communicate, limited to the window
};
/// Share of this work that other kernels hide, [0, 1].
double overlapOf(std::span<const OnDevice> devices);
CommunicationUse communicationUse(const RuleContext& c);

} // namespace advisor
