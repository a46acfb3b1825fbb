#pragma once

#include "profiler/capture/recorder.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

/// Counters of the machine and of a process, sampled regularly from what the kernel and the GPU driver report.
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

struct SystemSamplerOptions {
    Nanoseconds every = std::chrono::milliseconds(100);
    std::int64_t process = 0;               ///< process whose memory, faults, switches and disk reads are sampled; 0
                                            ///< for this one
    bool gpu = true;                        ///< query NVML, if available
    TimeRange within{{}, TraceTime::max()}; ///< sample only within this time range
};

/// Samples the machine and a process on a separate thread, as counters: load of each core (share), resident memory
/// (bytes), page faults and context switches (per second), disk reads (bytes per second). For each GPU of the trace, or
/// else of the machine: utilization, memory, clocks, power, temperature, whether its clocks are throttled, and why
/// (nvml_values.h). Each GPU's PCIe link is stored in the trace's metadata (nvml_values.h), and so is the measured
/// cost of sampling itself ("sampler.cpu_share": share of one core; "sampler.samples").
class SystemSampler {
public:
    /// @param recorder  must outlive the sampler
    static std::unique_ptr<SystemSampler> start(Recorder& recorder, const SystemSamplerOptions& options);
    /// Takes a last sample and ends the thread. Call it before the recorder finishes.
    ~SystemSampler();
    SystemSampler(const SystemSampler&) = delete;
    SystemSampler& operator=(const SystemSampler&) = delete;

private:
    SystemSampler();
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler::capture
