#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace profiler::capture {

/// Time of a core in clock ticks since the machine started, from /proc/stat.
struct CoreTimes {
    int core = 0;
    std::uint64_t busy = 0, all = 0;
};
/// @param stat  text of /proc/stat. @return by core number; lines that cannot be read are left out
std::vector<CoreTimes> parseCoreTimes(std::string_view stat);
/// Share of the time between two readings in which a core worked, [0, 1]; nothing when no time has gone by.
std::optional<double> coreLoad(const CoreTimes& before, const CoreTimes& now);

/// What a process has done since it started.
struct ProcessUse {
    std::uint64_t residentBytes = 0; ///< at this moment
    std::uint64_t minorFaults = 0, majorFaults = 0;
    std::uint64_t switchesWaiting = 0; ///< context switches because it waited
    std::uint64_t switchesForced = 0;  ///< because another was due
    std::uint64_t diskReadBytes = 0;   ///< fetched from storage; what the page cache had is not counted
};
/// @param stat, status, io  texts of /proc/<pid>/{stat,status,io}; an empty one leaves its fields 0
ProcessUse parseProcessUse(std::string_view stat, std::string_view status, std::string_view io);
/// Reads a process's files. Nothing when it is gone.
std::optional<ProcessUse> readProcessUse(std::int64_t pid);
/// A whole small file of the kernel's; empty when it cannot be read.
std::string readKernelFile(const std::filesystem::path& path);

} // namespace profiler::capture
