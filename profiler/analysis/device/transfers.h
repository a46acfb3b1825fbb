#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace profiler::analysis {

struct ActivityScan; // activity_scan.h

/// All copies of one kind between the same kinds of memory.
struct Transfer {
    CopyKind kind{};
    MemoryKind src{}, dst{};
    std::int64_t count = 0, bytes = 0;
    Nanoseconds time{}; ///< summed: copies that overlap count twice
    /// Achieved bandwidth in 10⁹ bytes per second; 0 if the time is zero.
    [[nodiscard]] double gbPerSecond() const
    {
        return time.count() > 0 ? static_cast<double>(bytes) / static_cast<double>(time.count()) : 0;
    }
};

/// All kernels of one name.
struct KernelTotal {
    std::string name;
    std::int64_t count = 0;
    Nanoseconds time{};
    std::optional<SliceId> longest{}; ///< where it is known
};

/// Kernels of collective communication.
struct Communication {
    std::int64_t kernels = 0;
    Nanoseconds time{};    ///< union over the device's streams
    Nanoseconds exposed{}; ///< the part of it in which no other kernel ran
};
Communication communication(const ActivityScan& scan);

} // namespace profiler::analysis
