#include "profiler/formats/nsys/export_tracks.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace profiler::formats::nsys {

namespace {

// Slices go to the builder in batches of this size, which bounds the memory for pending slices.
constexpr std::size_t kLot = 1U << 16;

/// Larger figures of a GPU (its threads, registers, bytes of shared memory) are damage.
constexpr std::int64_t kMostOfGpu = 1 << 30;

/// Calls `visit` for every readable row. Damage in a table of names only loses names.
template <class Visit>
Result<void> forEachRow(Result<Rows> rows, Visit&& visit)
{
    if (!rows)
        return tl::unexpected(rows.error());
    for (;;) {
        const auto more = rows->next();
        if (!more && more.error().code == Error::Code::Cancelled)
            return tl::unexpected(more.error());
        if (!more || !*more)
            return {};
        visit(*rows);
    }
}

} // namespace

Result<void> ExportTracks::readNames(const SqliteFile& file, const ExportSchema& schema)
{
    if (schema.has("PROCESSES", "name")) {
        auto read = forEachRow(schema.select(file, "PROCESSES", {"globalPid", "name"}), [&](const Rows& row) {
            if (const auto pid = row.integer(1))
                m_processes.emplace(processOf(*pid), row.text(2));
        });
        if (!read)
            return read;
    }
    if (auto read = readThreads(file, schema); !read)
        return read;
    return readGpus(file, schema);
}

Result<void> ExportTracks::readThreads(const SqliteFile& file, const ExportSchema& schema)
{
    if (!schema.has("ThreadNames", "nameId"))
        return {};
    return forEachRow(schema.select(file, "ThreadNames", {"globalTid", "nameId"}), [&](const Rows& row) {
        const auto tid = row.integer(1), name = row.integer(2);
        if (tid && name)
            m_threadNames[*tid] = m_strings.at(*name);
    });
}

Result<void> ExportTracks::readGpus(const SqliteFile& file, const ExportSchema& schema)
{
    if (schema.has("TARGET_INFO_GPU", "id")) {
        auto read = forEachRow(
            schema.select(file, "TARGET_INFO_GPU",
                          {"id", "name", "uuid", "computeMajor", "computeMinor", "smCount", "maxWarpsPerSm",
                           "threadsPerWarp", "maxBlocksPerSm", "maxRegistersPerSm", "maxShmemPerSm"}),
            [&](const Rows& row) {
                const auto id = row.integer(1);
                if (!id)
                    return;
                const auto figure = [&](int column) {
                    const std::int64_t value = row.integer(column).value_or(0);
                    return value > 0 && value < kMostOfGpu ? static_cast<int>(value) : 0;
                };
                Device& gpu = m_gpus[*id];
                gpu.name = row.text(2);
                gpu.uuid = row.text(3);
                gpu.computeMajor = static_cast<int>(row.integer(4).value_or(0));
                gpu.computeMinor = static_cast<int>(row.integer(5).value_or(0));
                gpu.multiprocessors = figure(6);
                const std::int64_t threads = std::int64_t{figure(7)} * figure(8);
                gpu.limits = {threads < kMostOfGpu ? static_cast<int>(threads) : 0, figure(9), figure(10), figure(11)};
            });
        if (!read)
            return read;
    }
    if (!schema.has("TARGET_INFO_CUDA_DEVICE", "gpuId"))
        return {};
    std::map<std::int64_t, std::set<std::int64_t>> meanings; // of a CUDA device number
    auto read = forEachRow(schema.select(file, "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid", "uuid"}),
                           [&](const Rows& row) {
                               const auto gpu = row.integer(1), cuda = row.integer(2);
                               if (!gpu || !cuda)
                                   return;
                               m_gpuOf[{row.integer(3).value_or(0), *cuda}] = *gpu;
                               meanings[*cuda].insert(*gpu);
                               if (m_gpus[*gpu].uuid.empty())
                                   m_gpus[*gpu].uuid = row.text(4);
                           });
    for (const auto& [cuda, gpus] : meanings)
        m_renumbered = m_renumbered || gpus.size() > 1;
    return read;
}

/// CUDA's number, unless it is ambiguous because processes see different GPUs under it (CUDA_VISIBLE_DEVICES).
DeviceId ExportTracks::device(std::int64_t globalPid, std::int64_t cudaId)
{
    const auto known = m_gpuOf.find({processOf(globalPid), cudaId});
    const std::int64_t gpu = known == m_gpuOf.end() ? cudaId : known->second;
    const DeviceId id{static_cast<std::uint32_t>(m_renumbered ? gpu : cudaId)};
    if (!m_devices.contains(id.value)) {
        const auto named = m_gpus.find(gpu);
        Device device = named == m_gpus.end() ? Device{} : named->second;
        device.id = id;
        m_devices.emplace(id.value, std::move(device));
    }
    return id;
}

std::string ExportTracks::processName(std::int64_t globalId) const
{
    const auto found = m_processes.find(processOf(globalId));
    const std::string name = found == m_processes.end() ? std::string("process") : found->second;
    return fmt::format("{} {}", name, processOf(globalId));
}

TrackId ExportTracks::thread(std::int64_t globalTid)
{
    const auto [entry, isNew] = m_threads.try_emplace(globalTid);
    if (isNew) {
        const bool isMain = threadOf(globalTid) == processOf(globalTid);
        const auto named = m_threadNames.find(globalTid);
        const std::string_view name = named == m_threadNames.end() ? "" : m_strings.text(named->second);
        Track track;
        track.kind = isMain ? TrackKind::MainThread : TrackKind::Thread;
        track.name = isMain         ? "main thread"
                     : name.empty() ? fmt::format("thread {}", threadOf(globalTid))
                                    : fmt::format("{} {}", name, threadOf(globalTid));
        track.pid = processOf(globalTid);
        track.tid = threadOf(globalTid);
        track.processName = processName(globalTid);
        entry->second = m_builder.addTrack(std::move(track));
    }
    return entry->second;
}

TrackId ExportTracks::stream(const StreamPlace& place)
{
    const auto [entry, isNew] = m_streams.try_emplace(place);
    if (isNew) {
        Track track;
        track.kind = TrackKind::Stream;
        track.name = fmt::format("stream {}", place.stream);
        track.pid = processOf(place.globalPid);
        track.device = device(place.globalPid, place.device);
        track.stream = StreamId{static_cast<std::uint32_t>(place.stream)};
        track.processName = processName(place.globalPid);
        // A process may have several contexts on a device, each with a stream of that number.
        for (const auto& [other, id] : m_streams)
            if (other.globalPid == place.globalPid && other.device == place.device && other.stream == place.stream &&
                other.context != place.context)
                track.name = fmt::format("stream {}, context {}", place.stream, place.context);
        entry->second = m_builder.addTrack(std::move(track));
    }
    return entry->second;
}

TrackId ExportTracks::nvtx(std::int64_t globalTid, std::int64_t domain, bool ofThread)
{
    if (ofThread && domain == 0)
        return thread(globalTid);
    const std::int64_t owner = ofThread ? globalTid : globalTid & ~std::int64_t{0xffffff};
    const auto [entry, isNew] = m_nvtx.try_emplace({owner, domain, ofThread});
    if (isNew) {
        const auto named = m_domains.find({processOf(globalTid), domain});
        Track track;
        track.kind = TrackKind::NvtxDomain;
        track.name = named != m_domains.end() ? named->second
                     : domain == 0            ? std::string("NVTX ranges")
                                              : fmt::format("NVTX domain {}", domain);
        if (ofThread)
            track.name += fmt::format(", thread {}", threadOf(globalTid));
        track.pid = processOf(globalTid);
        track.tid = ofThread ? threadOf(globalTid) : 0;
        track.processName = processName(globalTid);
        entry->second = m_builder.addTrack(std::move(track));
    }
    return entry->second;
}

TrackId ExportTracks::counter(std::int64_t globalPid, std::int64_t cudaId, const std::string& name,
                              const std::string& unit)
{
    const auto [entry, isNew] = m_counters.try_emplace({globalPid, cudaId, name});
    if (isNew) {
        Track track;
        track.kind = TrackKind::Counter;
        track.device = device(globalPid, cudaId);
        track.name = fmt::format("{}, device {}", name, track.device.value);
        track.pid = processOf(globalPid);
        track.unit = unit;
        track.processName = processName(globalPid);
        entry->second = m_builder.addTrack(std::move(track));
    }
    return entry->second;
}

void ExportTracks::nameDomain(std::int64_t globalPid, std::int64_t domain, std::string name)
{
    m_domains[{processOf(globalPid), domain}] = std::move(name);
}

std::int64_t ExportTracks::correlation(std::int64_t globalId, std::int64_t id)
{
    if (id <= 0)
        return 0;
    const auto ordinal = static_cast<std::int64_t>(m_processOrdinals.size());
    const auto [entry, isNew] = m_processOrdinals.try_emplace(processOf(globalId), ordinal);
    if (isNew)
        m_globalPids.push_back(globalId & ~std::int64_t{0xffffff});
    return entry->second << 32 | (id & 0xffffffff);
}

TrackId ExportTracks::mainThreadOf(std::int64_t correlation)
{
    return mainThread(m_globalPids.at(static_cast<std::size_t>(correlation >> 32)));
}

void ExportTracks::add(TrackId track, const RawSlice& slice)
{
    if ((slice.flags & slice_flag::kOpen) != 0)
        m_open.emplace_back(track, slice);
    else
        file(track, slice);
}

void ExportTracks::file(TrackId track, const RawSlice& slice)
{
    if (track.value >= m_pending.size())
        m_pending.resize(track.value + 1);
    auto& lot = m_pending[track.value];
    lot.push_back(slice);
    if (lot.size() >= kLot) {
        m_builder.addMany(track, std::move(lot), Depth::Inferred);
        lot = {};
    }
}

std::vector<TrackId> ExportTracks::nesting() const
{
    std::vector<TrackId> tracks;
    for (const auto& [tid, track] : m_threads)
        tracks.push_back(track);
    for (const auto& [key, track] : m_nvtx)
        if (std::get<bool>(key))
            tracks.push_back(track);
    std::sort(tracks.begin(), tracks.end());
    return tracks;
}

void ExportTracks::finish(std::int64_t lastTime)
{
    for (auto& [track, slice] : std::exchange(m_open, {})) {
        slice.duration = std::max<std::int64_t>(lastTime - slice.begin, 0);
        file(track, slice);
    }
    for (std::uint32_t track = 0; track < m_pending.size(); ++track)
        if (!m_pending[track].empty())
            m_builder.addMany(TrackId{track}, std::move(m_pending[track]), Depth::Inferred);
    m_pending.clear();
    for (const auto& [id, device] : m_devices)
        m_builder.addDevice(device);
}

} // namespace profiler::formats::nsys
