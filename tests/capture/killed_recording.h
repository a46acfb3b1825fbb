#pragma once

#include "profiler/model/clock.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace capture_test {

inline constexpr int kKilledThreads = 2;

/// What a recording child has certainly recorded, in memory that outlives it.
struct Progress {
    std::atomic<std::int64_t> recorded[kKilledThreads];
    std::atomic<std::int64_t> firstGpuNs; ///< end of the first device work that was added; 0 before that
    std::atomic<std::int64_t> gpuNs;      ///< end of the last one
    std::atomic<bool> ready;              ///< set when every thread has recorded something
};
/// A separate shared page; release it with munmap().
Progress* sharedProgress();

/// Records on two threads, and device work on a third, until it is killed. Never returns.
[[noreturn]] void recordUntilKilled(const std::filesystem::path& path, Progress& progress);

/// The cost of SIGKILL at random moments.
struct KillLosses {
    int opened = 0;                             ///< number of traces that could be read
    std::uint64_t hostEvents = 0;               ///< number that the children had certainly recorded
    std::uint64_t hostLost = 0;                 ///< number of these that are not in the trace
    std::uint64_t fromRing = 0;                 ///< number found only in the ring files
    std::vector<profiler::Nanoseconds> gpuLost; ///< by round: from the last work in the trace (or the first, if none)
                                                ///< to the last work added
    std::string problem; ///< the first inconsistency: a missing name, or an event that occurs twice
};
KillLosses killAtRandomMoments(int rounds, unsigned seed);

} // namespace capture_test
