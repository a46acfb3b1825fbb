#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/model/result.h"
#include "profiler/os/file_lock.h"
#include "profiler/os/memory.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Layout of a ring file: RingHeader, a log of TrackEntry, thread buffers (LaneHeader, then records), strings. The log
/// and the strings only grow: an entry that renames a track is appended, and the last entry of a track is valid. The
/// counts in the header are published (release) after the data that they count, so a reader never finds a half-written
/// entry, whenever the writer was killed. Fields that change while others read them are accessed through
/// std::atomic_ref.
namespace profiler::container {

inline constexpr char kRingMagic[8] = {'S', 'S', 'R', 'I', 'N', 'G', 'S', '\n'};
/// 1: the i-th track entry describes track i and was overwritten in place. 2: a log. Readers of version 2 also read
/// version 1.
inline constexpr std::uint32_t kRingVersion = 2;
inline constexpr std::uint64_t kRingPage = 4096;
/// Longer strings are truncated. Names of C++ templates and configurations can have tens of thousands of bytes.
inline constexpr std::uint32_t kMaxStringBytes = 1 << 20;

struct RingHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes; ///< sizeof(RingHeader)
    std::int64_t pid;
    std::uint64_t runId; ///< FileHeader::runId of the trace file
    std::uint32_t maxLanes;
    std::uint32_t laneEvents; ///< records per thread buffer, a power of two
    std::uint32_t maxTracks;
    std::uint32_t lanes;  ///< thread buffers created so far
    std::uint32_t tracks; ///< track entries written so far; published after each entry is complete
    std::uint32_t reserved;
    std::uint64_t stringCapacity;     ///< bytes
    std::uint64_t stringBytes;        ///< bytes used: StringEntry and text, padded to 4, repeated
    std::uint64_t dropped, unmatched; ///< losses that no thread buffer counts
};

/// Header of a thread buffer. The recording thread writes the first cache line, the writer thread the second, so they
/// do not share one.
struct LaneHeader {
    alignas(64) std::uint64_t written;    ///< total number of records written
    std::uint64_t dropped;                ///< records for which there was no room
    std::uint64_t unmatched;              ///< ends without a start
    alignas(64) std::uint64_t read;       ///< records that are in the trace file
    alignas(64) std::uint64_t trackBegin; ///< value of `written` when the buffer was assigned to its current track
    std::uint32_t track;
    std::uint32_t reserved;
};
static_assert(sizeof(LaneHeader) == 192);

/// The file layout that follows from the sizes in a RingHeader.
struct RingLayout {
    std::uint32_t maxLanes = 0, laneEvents = 0, maxTracks = 0;
    std::uint64_t stringCapacity = 0;

    [[nodiscard]] static constexpr std::uint64_t paged(std::uint64_t bytes)
    {
        return (bytes + kRingPage - 1) / kRingPage * kRingPage;
    }
    [[nodiscard]] constexpr std::uint64_t tracksAt() const { return paged(sizeof(RingHeader)); }
    [[nodiscard]] constexpr std::uint64_t lanesAt() const
    {
        return tracksAt() + paged(std::uint64_t{maxTracks} * sizeof(TrackEntry));
    }
    [[nodiscard]] constexpr std::uint64_t laneBytes() const
    {
        return paged(sizeof(LaneHeader) + std::uint64_t{laneEvents} * sizeof(EventRecord));
    }
    [[nodiscard]] constexpr std::uint64_t laneAt(std::uint32_t lane) const { return lanesAt() + lane * laneBytes(); }
    [[nodiscard]] constexpr std::uint64_t stringsAt() const { return laneAt(maxLanes); }
    [[nodiscard]] constexpr std::uint64_t fileBytes() const { return stringsAt() + paged(stringCapacity); }

    /// Larger numbers indicate damage. The limits keep the sums above from overflowing.
    [[nodiscard]] constexpr bool plausible() const
    {
        return maxLanes <= 65'536 && laneEvents != 0 && laneEvents <= (1U << 26) &&
               (laneEvents & (laneEvents - 1)) == 0 && maxTracks <= (1U << 20) &&
               stringCapacity <= (std::uint64_t{1} << 32);
    }
};

/// The events in the ring file of a killed run that are not in its trace file.
struct RecoveredEvents {
    struct Lane {
        TrackEntry track{};
        std::uint64_t firstIndex = 0;    ///< running index of events[0] (see EventBatch): skip what the file has
        std::vector<EventRecord> events; ///< in order; possibly not in the file yet
    };
    std::vector<TrackEntry> tracks; ///< all tracks of the run, including counters and streams
    std::vector<std::pair<std::uint32_t, std::string>> strings; ///< all interned strings of the run
    std::vector<Lane> lanes;
    std::uint64_t dropped = 0, unmatched = 0; ///< totals of the run, as in LossEntry
    std::uint32_t damaged = 0;                ///< thread buffers, tracks and strings that could not be read completely
};

/// Path of the ring file that belongs to a trace file.
std::filesystem::path ringPath(const std::filesystem::path& trace);

/// Reads the recovered events of a run that did not end properly. NotFound if there is no ring file or it belongs to
/// another run.
Result<RecoveredEvents> recoverRing(const std::filesystem::path& trace, std::uint64_t runId);

/// The ring file of a run in progress, mapped with MAP_SHARED, so its content survives a killed process. Disk space is
/// allocated before mapped memory is used, so a full disk is an error here and never a SIGBUS.
class LiveRing {
public:
    struct Lane {
        LaneHeader* header = nullptr;
        EventRecord* records = nullptr;
    };

    /// Creates the file under a temporary name in the folder of `path`; publish() renames it. Fails if the folder is
    /// missing or not writable, or if the disk has no room for the first thread buffer.
    static Result<std::unique_ptr<LiveRing>> create(const std::filesystem::path& path, const RingLayout& layout,
                                                    std::uint64_t runId);
    /// Deletes the file if it was not published.
    ~LiveRing();

    /// Gives the file its final name; replaces an existing file.
    Result<void> publish();
    /// Deletes the file after the run ended properly. The memory stays usable.
    void remove();

    /// Allocates the next thread buffer. Fails if all are in use or the disk is full. Thread-safe.
    Result<Lane> addLane(std::uint32_t track);
    /// Appends a track's entry for recovery; a later entry of the same track replaces it. If the log is full, the entry
    /// is only in the trace file. Thread-safe.
    void putTrack(const TrackEntry& entry);
    /// Stores a string for recovery.
    /// @return the stored bytes, valid as long as this object; empty if there is no room. One thread at a time.
    std::optional<std::string_view> putString(std::uint32_t id, std::string_view text);
    /// Adds to the losses that no thread buffer counts. Thread-safe.
    void countLoss(std::uint64_t dropped, std::uint64_t unmatched);

private:
    LiveRing() = default;
    Result<void> takeSpace(std::uint64_t offset, std::uint64_t bytes);
    [[nodiscard]] RingHeader& header() const;

    std::filesystem::path m_path, m_temporary;
    RingLayout m_layout;
    std::optional<os::SharedMapping> m_mapping;
    std::byte* m_memory = nullptr; ///< of the mapping
    os::OwnFile m_file;
    std::mutex m_growing; ///< held while disk space is allocated; never on a recording thread's hot path
    std::uint64_t m_stringsTaken = 0;
};

} // namespace profiler::container
