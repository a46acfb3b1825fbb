#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/model/ids.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

/// What all threads of a recording share: its strings and its tracks, by number.
namespace profiler::capture {

/// All strings of a run, interned by content. Id 0 is "". Thread-safe, but takes a lock, so thread buffers have a cache
/// in front of it.
class StringTable {
public:
    struct Interned {
        std::uint32_t id = 0;
        std::string_view text; ///< valid as long as the table and its ring
    };

    /// @param ring  stores the strings for recovery after a kill; must outlive the table
    explicit StringTable(container::LiveRing& ring);
    /// Text beyond container::kMaxStringBytes is truncated.
    Interned intern(std::string_view text);

    /// The text of an id returned by intern(); "" for other ids.
    [[nodiscard]] std::string text(std::uint32_t id) const;

    /// Payloads of Strings frames with the strings interned since the last call.
    std::vector<container::Payload> takeNew();

private:
    mutable std::mutex m_mutex; ///< held for a look-up or an insertion; never while the trace file is written
    container::LiveRing& m_ring;
    std::unordered_map<std::string_view, std::uint32_t> m_ids;
    std::vector<std::string_view> m_texts; ///< by id
    std::deque<std::string> m_overflow;    ///< texts that do not fit into the ring file
    std::size_t m_taken = 0;
};

/// The tracks of a run and their owners. Thread-safe.
class TrackTable {
public:
    /// @param ring  stores the entries for recovery after a kill; must outlive the table
    explicit TrackTable(container::LiveRing& ring) : m_ring(ring) {}

    /// The track for a thread's buffer. Reuses the track that threadTrack() created for `tid`, or creates a new one.
    /// @param tid  0 if unknown
    std::uint32_t bufferTrack(std::uint32_t name, TrackKind kind, std::int64_t tid);
    /// Another thread starts to write to the track of a thread that has ended.
    void joinThread(std::uint32_t track, std::int64_t tid);
    void rename(std::uint32_t track, std::uint32_t name, TrackKind kind);

    std::optional<std::uint32_t> findThread(std::int64_t tid);
    std::optional<std::uint32_t> findStream(DeviceId device, StreamId stream);
    /// A host thread's track, which a thread buffer may take over.
    std::uint32_t threadTrack(std::int64_t tid, std::uint32_t name);
    std::uint32_t streamTrack(DeviceId device, StreamId stream, std::uint32_t name);
    std::uint32_t counterTrack(std::uint32_t name, std::uint32_t unit);
    std::uint32_t namedTrack(std::uint32_t name, TrackKind kind);

    /// Payloads of Tracks frames with the tracks created or changed since the last call.
    std::vector<container::Payload> takeNew();

private:
    std::uint32_t add(container::TrackEntry entry, TrackKind kind);

    std::mutex m_mutex; ///< held for a look-up or an insertion; never while the trace file is written
    container::LiveRing& m_ring;
    std::vector<container::TrackEntry> m_tracks;
    std::vector<bool> m_hasBuffer;
    std::vector<std::uint32_t> m_changed;
    std::map<std::int64_t, std::uint32_t> m_byThread;
    std::map<std::pair<DeviceId, StreamId>, std::uint32_t> m_byStream;
    std::map<std::uint32_t, std::uint32_t> m_byCounter; ///< by name
    std::map<std::pair<std::uint32_t, TrackKind>, std::uint32_t> m_byName;
};

} // namespace profiler::capture
