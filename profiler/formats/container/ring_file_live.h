#pragma once

#include "profiler/formats/container/ring_file_layout.h"
#include "profiler/model/result.h"
#include "profiler/os/memory.h"
#include "profiler/os/own_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

namespace profiler::wire {

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

} // namespace profiler::wire
