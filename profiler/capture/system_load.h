#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace profiler::capture {

/// Time of a core in clock ticks since boot, from /proc/stat.
struct CoreTimes {
    int core = 0;
    std::uint64_t busy = 0, all = 0;
};
/// @param stat  text of /proc/stat
/// @return times by core number; lines that cannot be parsed are skipped
std::vector<CoreTimes> parseCoreTimes(std::string_view stat);
/// Share of the time between two readings in which a core was busy, [0, 1]; empty if no time has passed.
std::optional<double> coreLoad(const CoreTimes& before, const CoreTimes& now);

/// Resource usage of a process since it started.
struct ProcessUse {
    std::uint64_t residentBytes = 0; ///< current value
    std::uint64_t minorFaults = 0, majorFaults = 0;
    std::uint64_t switchesWaiting = 0; ///< voluntary context switches: the process waited
    std::uint64_t switchesForced = 0;  ///< involuntary context switches: another process was scheduled
    std::uint64_t diskReadBytes = 0;   ///< read from storage; excludes data from the page cache
};
/// @param stat, status, io  texts of /proc/<pid>/{stat,status,io}; an empty text leaves its fields at 0
ProcessUse parseProcessUse(std::string_view stat, std::string_view status, std::string_view io);
/// Reads the files of a process. Empty if the process has ended.
std::optional<ProcessUse> readProcessUse(std::int64_t pid);
/// Reads a whole small file of the kernel; empty if it cannot be read.
std::string readKernelFile(const std::filesystem::path& path);

} // namespace profiler::capture
