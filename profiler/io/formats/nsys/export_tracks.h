#pragma once

#include "profiler/io/formats/nsys/export_names.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::formats::nsys {

/// Process and thread of a serialized id: hardware, machine (8 bits each), process and thread (24 bits each).
constexpr std::int64_t processOf(std::int64_t globalId)
{
    return globalId >> 24 & 0xffffff;
}
constexpr std::int64_t threadOf(std::int64_t globalId)
{
    return globalId & 0xffffff;
}

/// CUDA's number of a device; no machine has more.
constexpr bool isDevice(std::int64_t number)
{
    return number >= 0 && number <= 0xffff;
}

/// Where the slices of a stream lie.
struct StreamPlace {
    std::int64_t globalPid = 0, device = 0, context = 0, stream = 0;
    /// Device and stream are numbers that CUDA gives: a stream's has 32 bits, and may be written with a sign.
    [[nodiscard]] bool canBe() const { return isDevice(device) && stream >= -0x80000000LL && stream <= 0xffffffffLL; }
    friend auto operator<=>(const StreamPlace&, const StreamPlace&) = default;
};

/// Makes the trace's tracks when their first slice comes, and collects slices for them.
class ExportTracks {
public:
    ExportTracks(TraceBuilder& builder, ExportStrings& strings) : m_builder(builder), m_strings(strings) {}

    /// Names of processes and threads and of GPUs, and which GPU a process means by a number.
    Result<void> readNames(const SqliteFile& file, const ExportSchema& schema);

    TrackId thread(std::int64_t globalTid);
    TrackId mainThread(std::int64_t globalPid) { return thread(globalPid | processOf(globalPid)); }
    /// The main thread of the process that a correlation of this trace belongs to.
    TrackId mainThreadOf(std::int64_t correlation);
    TrackId stream(const StreamPlace& place);
    /// Ranges of an NVTX domain: of a thread where `globalTid` names one, else of a process.
    TrackId nvtx(std::int64_t globalTid, std::int64_t domain, bool ofThread);
    TrackId counter(std::int64_t globalPid, std::int64_t device, const std::string& name, const std::string& unit);
    void nameDomain(std::int64_t globalPid, std::int64_t domain, std::string name);

    /// Correlation ids begin anew in every process: what makes one of them the trace's.
    std::int64_t correlation(std::int64_t globalId, std::int64_t id);

    void add(TrackId track, const RawSlice& slice);
    /// Tracks of threads, whose slices contain one another and do not overlap else.
    [[nodiscard]] std::vector<TrackId> nesting() const;
    /// Hands over what was collected, and the devices; called once, at the end.
    /// @param lastTime  where ranges without an end are cut
    void finish(std::int64_t lastTime);

private:
    struct Gpu {
        std::string name, uuid;
        int computeMajor = 0, computeMinor = 0; ///< 0: not in the file
    };
    void file(TrackId track, const RawSlice& slice);
    DeviceId device(std::int64_t globalPid, std::int64_t cudaId);
    [[nodiscard]] std::string processName(std::int64_t globalId) const;
    Result<void> readThreads(const SqliteFile& file, const ExportSchema& schema);
    Result<void> readGpus(const SqliteFile& file, const ExportSchema& schema);

    TraceBuilder& m_builder;
    ExportStrings& m_strings;
    std::map<std::int64_t, std::string> m_processes;          ///< by process
    std::unordered_map<std::int64_t, StringId> m_threadNames; ///< by globalTid
    std::map<std::int64_t, Gpu> m_gpus;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_gpuOf; ///< by process and CUDA's number
    bool m_renumbered = false; ///< processes mean different GPUs by one number
    std::map<std::int64_t, Device> m_devices;

    std::unordered_map<std::int64_t, TrackId> m_threads; ///< by globalTid
    std::map<StreamPlace, TrackId> m_streams;
    std::map<std::tuple<std::int64_t, std::int64_t, bool>, TrackId> m_nvtx;
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> m_domains;
    std::map<std::tuple<std::int64_t, std::int64_t, std::string>, TrackId> m_counters;
    std::unordered_map<std::int64_t, std::int64_t> m_processOrdinals; ///< by process, in the order of their coming
    std::vector<std::int64_t> m_globalPids;                           ///< by ordinal
    std::vector<std::vector<RawSlice>> m_pending;                     ///< by track
    std::vector<std::pair<TrackId, RawSlice>> m_open;
};

} // namespace profiler::formats::nsys
