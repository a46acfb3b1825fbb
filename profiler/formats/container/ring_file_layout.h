#pragma once

#include "profiler/formats/container/records.h"

#include <cstdint>

/// Layout of a ring file: RingHeader, a log of TrackEntry, thread buffers (LaneHeader, then records), strings. The log
/// and the strings only grow: an entry that renames a track is appended, and the last entry of a track is valid. The
/// counts in the header are published (release) after the data that they count, so a reader never finds a half-written
/// entry, whenever the writer was killed. Fields that change while others read them are accessed through
/// std::atomic_ref.
namespace profiler::wire {

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

} // namespace profiler::wire
