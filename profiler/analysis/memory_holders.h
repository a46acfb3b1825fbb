#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profiler::analysis {

/// Blocks of memory that were alive together and were taken by the same operator in the same phase of the same step.
struct MemoryHolder {
    std::int64_t bytes = 0, blocks = 0;
    std::optional<std::int64_t> step; ///< empty: taken outside of all steps
    std::string phase, op;            ///< empty: taken outside of all
    bool rest = false;                ///< all smaller ones together: `step`, `phase` and `op` say nothing

    friend bool operator==(const MemoryHolder&, const MemoryHolder&) = default;
};

/// What held a device's memory at one moment.
struct MemoryMoment {
    std::string place;                 ///< "CPU", "GPU 0"
    bool ranOut = false;               ///< memory ran out; else the peak of the recording
    std::int64_t bytes = 0;            ///< held in all
    std::optional<std::int64_t> asked; ///< what could not be had
    std::vector<MemoryHolder> alive;   ///< largest first, the rest last

    friend bool operator==(const MemoryMoment&, const MemoryMoment&) = default;
};

/// What the trace keeps of them (level "full"): where memory ran out first, then the peaks; the CPU before GPUs. Lines
/// that cannot be read are left out.
std::vector<MemoryMoment> memoryMoments(const Trace& trace);

} // namespace profiler::analysis
