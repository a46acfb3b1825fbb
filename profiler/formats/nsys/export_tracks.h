#pragma once

#include "profiler/formats/nsys/export_schema.h"
#include "profiler/model/trace_builder.h"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::formats::nsys {

/// Process and thread from a serialized id: hardware, machine (8 bits each), process and thread (24 bits each).
constexpr std::int64_t processOf(std::int64_t globalId)
{
    return globalId >> 24 & 0xffffff;
}
constexpr std::int64_t threadOf(std::int64_t globalId)
{
    return globalId & 0xffffff;
}

/// True for valid CUDA device numbers; no machine has more devices.
constexpr bool isDevice(std::int64_t number)
{
    return number >= 0 && number <= 0xffff;
}

/// Identifies the stream of a slice.
struct StreamPlace {
    std::int64_t globalPid = 0, device = 0, context = 0, stream = 0;
    /// True for valid numbers. A stream number has 32 bits and may be stored with a sign.
    [[nodiscard]] bool canBe() const { return isDevice(device) && stream >= -0x80000000LL && stream <= 0xffffffffLL; }
    friend auto operator<=>(const StreamPlace&, const StreamPlace&) = default;
};

/// Creates the trace's tracks when their first slice arrives, and collects their slices.
class ExportTracks {
public:
    ExportTracks(TraceBuilder& builder, ExportStrings& strings) : m_builder(builder), m_strings(strings) {}

    /// Reads the names of processes, threads and GPUs, and which GPU a process means by a number.
    Result<void> readNames(const SqliteFile& file, const ExportSchema& schema);

    TrackId thread(std::int64_t globalTid);
    TrackId mainThread(std::int64_t globalPid) { return thread(globalPid | processOf(globalPid)); }
    /// The main thread of the process that a correlation id of this trace belongs to.
    TrackId mainThreadOf(std::int64_t correlation);
    TrackId stream(const StreamPlace& place);
    /// Ranges of an NVTX domain: of a thread if `ofThread`, otherwise of a process.
    TrackId nvtx(std::int64_t globalTid, std::int64_t domain, bool ofThread);
    TrackId counter(std::int64_t globalPid, std::int64_t device, const std::string& name, const std::string& unit);
    void nameDomain(std::int64_t globalPid, std::int64_t domain, std::string name);

    /// Makes a correlation id unique in the trace. The ids of the file are unique only within a process.
    std::int64_t correlation(std::int64_t globalId, std::int64_t id);

    void add(TrackId track, const RawSlice& slice);
    /// Tracks of threads, whose slices must nest without overlapping.
    [[nodiscard]] std::vector<TrackId> nesting() const;
    /// Passes the collected slices and the devices to the builder; called once, at the end.
    /// @param lastTime  the end of ranges that have none
    void finish(std::int64_t lastTime);

private:
    void file(TrackId track, const RawSlice& slice);
    DeviceId device(std::int64_t globalPid, std::int64_t cudaId);
    [[nodiscard]] std::string processName(std::int64_t globalId) const;
    Result<void> readThreads(const SqliteFile& file, const ExportSchema& schema);
    Result<void> readGpus(const SqliteFile& file, const ExportSchema& schema);

    TraceBuilder& m_builder;
    ExportStrings& m_strings;
    std::map<std::int64_t, std::string> m_processes;          ///< by process
    std::unordered_map<std::int64_t, StringId> m_threadNames; ///< by globalTid
    std::map<std::int64_t, Device> m_gpus; ///< by the number of TARGET_INFO_GPU; their ids are not set
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_gpuOf; ///< by process and CUDA's number
    bool m_renumbered = false; ///< processes use the same number for different GPUs
    std::map<std::int64_t, Device> m_devices;

    std::unordered_map<std::int64_t, TrackId> m_threads; ///< by globalTid
    std::map<StreamPlace, TrackId> m_streams;
    std::map<std::tuple<std::int64_t, std::int64_t, bool>, TrackId> m_nvtx;
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> m_domains;
    std::map<std::tuple<std::int64_t, std::int64_t, std::string>, TrackId> m_counters;
    std::unordered_map<std::int64_t, std::int64_t> m_processOrdinals; ///< by process, in order of appearance
    std::vector<std::int64_t> m_globalPids;                           ///< by ordinal
    std::vector<std::vector<RawSlice>> m_pending;                     ///< by track
    std::vector<std::pair<TrackId, RawSlice>> m_open;
};

} // namespace profiler::formats::nsys
