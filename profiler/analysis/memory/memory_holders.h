#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profiler::analysis {

/// Memory blocks that were alive at the same time and were allocated by the same operator in the same phase of the same
/// step.
struct MemoryHolder {
    std::int64_t bytes = 0, blocks = 0;
    std::optional<std::int64_t> step; ///< empty: allocated outside of all steps
    std::string phase, op;            ///< empty: allocated outside of any
    bool rest = false;                ///< sum of all smaller ones; `step`, `phase` and `op` are unused

    friend bool operator==(const MemoryHolder&, const MemoryHolder&) = default;
};

/// The allocations on a device at one moment.
struct MemoryMoment {
    std::string place;                 ///< "CPU", "GPU 0"
    bool ranOut = false;               ///< an allocation failed; otherwise this is the peak of the recording
    std::int64_t bytes = 0;            ///< total allocated
    std::optional<std::int64_t> asked; ///< size of the failed allocation
    std::vector<MemoryHolder> alive;   ///< largest first, the sum of the smaller ones last

    friend bool operator==(const MemoryMoment&, const MemoryMoment&) = default;
};

/// The moments that the trace contains (detail level "full"): out-of-memory moments first, then peaks; the CPU before
/// GPUs. Unreadable lines are skipped.
std::vector<MemoryMoment> memoryMoments(const Trace& trace);

} // namespace profiler::analysis
