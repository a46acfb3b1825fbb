#pragma once

#include "profiler/io/wire/own_file.h"
#include "profiler/io/wire/ring_file_layout.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace profiler::wire {

/// The ring file of a run that is being recorded, mapped MAP_SHARED: what was stored in it outlives a killed process.
/// Space is taken from the disk before it is mapped into use, so that a full disk is an error here and never a SIGBUS.
class LiveRing {
public:
    struct Lane {
        LaneHeader* header = nullptr;
        EventRecord* records = nullptr;
    };

    /// Makes the file under a temporary name beside `path`, which it gets by publish().
    /// Fails when the folder is missing or not writable, or the disk has no room for the first lane.
    static Result<std::unique_ptr<LiveRing>> create(const std::filesystem::path& path, const RingLayout& layout,
                                                    std::uint64_t runId);
    /// Unmaps. A file that was not published is deleted.
    ~LiveRing();

    /// Gives the file its name; an older one of that name is replaced.
    Result<void> publish();
    /// Deletes the file: the run ended well. The memory stays usable.
    void remove();

    /// The next lane, its space taken. Fails when all are in use or the disk is full. Thread-safe.
    Result<Lane> addLane(std::uint32_t track);
    /// Appends a track's entry for recovery; a later one of the same track counts in its place. Beyond the size of the
    /// log it is in the trace file only. Thread-safe.
    void putTrack(const TrackEntry& entry);
    /// Stores a string for recovery.
    /// @return the stored bytes, which live as long as this object; nothing when there is no room. One thread at a
    /// time.
    std::optional<std::string_view> putString(std::uint32_t id, std::string_view text);
    /// Adds to the losses that no lane counts. Thread-safe.
    void countLoss(std::uint64_t dropped, std::uint64_t unmatched);

private:
    LiveRing() = default;
    Result<void> takeSpace(std::uint64_t offset, std::uint64_t bytes);
    [[nodiscard]] RingHeader& header() const;

    std::filesystem::path m_path, m_temporary;
    RingLayout m_layout;
    std::byte* m_memory = nullptr;
    OwnFile m_file;
    std::mutex m_growing; ///< held while the disk's space is taken: never on a recording thread's hot path
    std::uint64_t m_stringsTaken = 0;
};

} // namespace profiler::wire
