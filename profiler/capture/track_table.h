#pragma once

#include "profiler/io/wire/frame.h"
#include "profiler/io/wire/ring_file_live.h"
#include "profiler/model/ids.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace profiler::capture {

/// The tracks of a run and who has which. Thread-safe.
class TrackTable {
public:
    /// @param ring  keeps the entries for recovery after a kill; outlives the table
    explicit TrackTable(wire::LiveRing& ring) : m_ring(ring) {}

    /// A thread's track for a lane. Takes over the one that threadTrack() made for `tid`; else makes one.
    /// @param tid  0: not known
    std::uint32_t laneTrack(std::uint32_t name, TrackKind kind, std::int64_t tid);
    /// A further thread writes to a track of which the first one has ended.
    void joinThread(std::uint32_t track, std::int64_t tid);
    void rename(std::uint32_t track, std::uint32_t name, TrackKind kind);

    std::optional<std::uint32_t> findThread(std::int64_t tid);
    std::optional<std::uint32_t> findStream(DeviceId device, StreamId stream);
    /// A host thread's track, which a lane may take over.
    std::uint32_t threadTrack(std::int64_t tid, std::uint32_t name);
    std::uint32_t streamTrack(DeviceId device, StreamId stream, std::uint32_t name);
    std::uint32_t counterTrack(std::uint32_t name, std::uint32_t unit);
    std::uint32_t namedTrack(std::uint32_t name, TrackKind kind);

    /// Payloads of frames of type Tracks with what was made or changed since the last call.
    std::vector<wire::Payload> takeNew();

private:
    std::uint32_t add(wire::TrackEntry entry, TrackKind kind);

    std::mutex m_mutex; ///< held for a look-up or an insertion; never while the trace file is written
    wire::LiveRing& m_ring;
    std::vector<wire::TrackEntry> m_tracks;
    std::vector<bool> m_hasLane;
    std::vector<std::uint32_t> m_changed;
    std::map<std::int64_t, std::uint32_t> m_byThread;
    std::map<std::pair<DeviceId, StreamId>, std::uint32_t> m_byStream;
    std::map<std::uint32_t, std::uint32_t> m_byCounter; ///< by name
    std::map<std::pair<std::uint32_t, TrackKind>, std::uint32_t> m_byName;
};

} // namespace profiler::capture
