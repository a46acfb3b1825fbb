#pragma once

#include "profiler/model/activity.h"

#include <algorithm>
#include <cstdint>

namespace profiler {

/// A slice as the builder receives it: 48 bytes.
struct RawSlice {
    std::int64_t begin = 0, duration = 0; ///< ns; clamped to ±kTimeLimit, a negative duration becomes 0
    std::int64_t link = 0;       ///< CpuOp: autograd sequence number, −1 for none; other kinds: correlation id, 0 for
                                 ///< none
    std::uint32_t name = 0;      ///< StringId
    std::uint32_t args = 0;      ///< id returned by internArgs()
    std::uint32_t ordinal = 0;   ///< ordinal of its SliceId; set when the slice is sealed
    std::uint32_t external = 0;  ///< Slice::externalId; 0 for none
    std::uint32_t sourceLow = 0; ///< see source()
    ActivityKind kind = ActivityKind::Other;
    std::uint8_t depth = 0;
    std::uint8_t flags = 0; ///< bits of slice_flag, and kInferredDepth
    std::uint8_t sourceHigh = 0;

    [[nodiscard]] std::int64_t end() const { return begin + duration; }
    [[nodiscard]] bool inferred() const { return (flags & kInferredDepth) != 0; }

    /// Place of the slice's text, as its ArgSource expects it (a byte offset or a row). 0 for none.
    [[nodiscard]] std::uint64_t source() const { return std::uint64_t{sourceHigh} << 32 | sourceLow; }
    /// A place beyond kMaxSource (a terabyte) is stored as 0.
    void setSource(std::uint64_t place)
    {
        place = place > kMaxSource ? 0 : place;
        sourceLow = static_cast<std::uint32_t>(place);
        sourceHigh = static_cast<std::uint8_t>(place >> 32);
    }
    /// Clamps times from any file to a range in which their sums do not overflow.
    void clampTimes()
    {
        begin = std::clamp(begin, -kTimeLimit, kTimeLimit);
        duration = std::clamp<std::int64_t>(duration, 0, kTimeLimit);
    }

    /// The depth was inferred from the intervals, so later slices of the track may change it. Not visible outside the
    /// model.
    static constexpr std::uint8_t kInferredDepth = 128;
    static constexpr std::uint64_t kMaxSource = (std::uint64_t{1} << 40) - 1;
    /// Times and durations are clamped to this (73 years).
    static constexpr std::int64_t kTimeLimit = std::int64_t{1} << 61;
};
static_assert(sizeof(RawSlice) == 48);

/// Order of a track: by start, then longest first, so that outer slices come before inner ones; then by arrival.
inline bool beginsBefore(const RawSlice& a, const RawSlice& b)
{
    if (a.begin != b.begin)
        return a.begin < b.begin;
    return a.duration != b.duration ? a.duration > b.duration : a.ordinal < b.ordinal;
}

} // namespace profiler
