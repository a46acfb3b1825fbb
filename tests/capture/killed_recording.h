#pragma once

#include "profiler/model/clock.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace capture_test {

inline constexpr int kKilledThreads = 2;

/// What a recording child has surely done, in memory that outlives it.
struct Progress {
    std::atomic<std::int64_t> recorded[kKilledThreads];
    std::atomic<std::int64_t> firstGpuNs; ///< end of the first device work that was handed over; 0 before
    std::atomic<std::int64_t> gpuNs;      ///< end of the last
    std::atomic<bool> ready;              ///< set when every thread has recorded
};
/// A page of its own; release with munmap().
Progress* sharedProgress();

/// Records on two threads, and device work by a third, until it is killed. Never returns.
[[noreturn]] void recordUntilKilled(const std::filesystem::path& path, Progress& progress);

/// What SIGKILL at random moments cost.
struct KillLosses {
    int opened = 0;                             ///< traces that could be read, of so many rounds
    std::uint64_t hostEvents = 0;               ///< that the children had surely recorded
    std::uint64_t hostLost = 0;                 ///< of these, not in the trace
    std::uint64_t fromRing = 0;                 ///< found in the ring files only
    std::vector<profiler::Nanoseconds> gpuLost; ///< by round: from the last work in the trace (none: the first) to the last handed over
    std::string problem; ///< the first thing that must not be: a name that is missing, an event twice
};
KillLosses killAtRandomMoments(int rounds, unsigned seed);

} // namespace capture_test
