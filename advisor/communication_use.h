#pragma once

#include "advisor/rule.h"

#include <vector>

namespace advisor {

/// Kernels of NCCL and RCCL in the judged window, against all others.
struct CommunicationUse {
    std::vector<profiler::Slice> kernels;  ///< longest first
    profiler::Nanoseconds time{};          ///< union
    profiler::analysis::Intervals exposed; ///< of that, while no other kernel ran
    /// Share of it that other kernels hide, [0, 1].
    [[nodiscard]] double overlap() const;
};
CommunicationUse communicationUse(const Case& c);

} // namespace advisor
