#pragma once

#include "profiler/io/wire/records.h"

#include <cstdint>

/// Layout of a ring file: RingHeader, a log of TrackEntry, lanes (LaneHeader, then records), strings.
/// The log and the strings only grow: an entry that renames a track is appended, and the last one of a track counts.
/// The header's counts are published (release) after what they count, so no reader, at whatever moment the writer was
/// killed, finds an entry that is half written. Fields that a run changes while others look are read and written
/// through std::atomic_ref.
namespace profiler::wire {

inline constexpr char kRingMagic[8] = {'S', 'S', 'R', 'I', 'N', 'G', 'S', '\n'};
/// 1: the i-th track entry is of track i, and was overwritten in place. 2: a log; a reader of 2 reads 1.
inline constexpr std::uint32_t kRingVersion = 2;
inline constexpr std::uint64_t kRingPage = 4096;
/// A string longer than this is cut; names of C++ templates and configurations reach some ten thousand.
inline constexpr std::uint32_t kMaxStringBytes = 1 << 20;

struct RingHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes; ///< sizeof(RingHeader)
    std::int64_t pid;
    std::uint64_t runId; ///< FileHeader::runId of the trace file
    std::uint32_t maxLanes;
    std::uint32_t laneEvents; ///< records a lane holds, a power of two
    std::uint32_t maxTracks;
    std::uint32_t lanes;  ///< lanes made so far
    std::uint32_t tracks; ///< track entries written so far: published after each entry is whole
    std::uint32_t reserved;
    std::uint64_t stringCapacity;     ///< bytes
    std::uint64_t stringBytes;        ///< bytes used: StringEntry and text, padded to 4, repeated
    std::uint64_t dropped, unmatched; ///< losses that no lane counts
};

/// Head of a lane. The recording thread writes the first line, the writer thread the second; so they share no cache
/// line.
struct LaneHeader {
    alignas(64) std::uint64_t written;    ///< records ever put in
    std::uint64_t dropped;                ///< records for which there was no room
    std::uint64_t unmatched;              ///< ends without a begin
    alignas(64) std::uint64_t read;       ///< records that are in the trace file
    alignas(64) std::uint64_t trackBegin; ///< `written` when the lane came to its present track
    std::uint32_t track;
    std::uint32_t reserved;
};
static_assert(sizeof(LaneHeader) == 192);

/// What the sizes in a RingHeader make of the file.
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

    /// Larger numbers are damage, not a run of ours; they keep the sums above far from overflow.
    [[nodiscard]] constexpr bool plausible() const
    {
        return maxLanes <= 65'536 && laneEvents != 0 && laneEvents <= (1U << 26) &&
               (laneEvents & (laneEvents - 1)) == 0 && maxTracks <= (1U << 20) &&
               stringCapacity <= (std::uint64_t{1} << 32);
    }
};

} // namespace profiler::wire
