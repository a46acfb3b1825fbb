#pragma once

#include "profiler/model/activity.h"

#include <algorithm>
#include <cstdint>

namespace profiler {

/// A slice on its way into a trace: 48 bytes.
struct RawSlice {
    std::int64_t begin = 0, duration = 0; ///< ns; kept within ±kTimeLimit, a negative duration becomes 0
    std::int64_t link = 0;       ///< CpuOp: autograd sequence number, −1: none; else the correlation id, 0: none
    std::uint32_t name = 0;      ///< StringId
    std::uint32_t args = 0;      ///< what internArgs() gave
    std::uint32_t ordinal = 0;   ///< of its SliceId; set by whoever seals it
    std::uint32_t external = 0;  ///< Slice::externalId; 0: none
    std::uint32_t sourceLow = 0; ///< see source()
    ActivityKind kind = ActivityKind::Other;
    std::uint8_t depth = 0;
    std::uint8_t flags = 0; ///< slice_flag, and kInferredDepth
    std::uint8_t sourceHigh = 0;

    [[nodiscard]] std::int64_t end() const { return begin + duration; }
    [[nodiscard]] bool inferred() const { return (flags & kInferredDepth) != 0; }

    /// Where the slice's text lies: what its ArgSource takes (a byte offset, a row). 0: nowhere.
    [[nodiscard]] std::uint64_t source() const { return std::uint64_t{sourceHigh} << 32 | sourceLow; }
    /// A place beyond kMaxSource (a terabyte) is kept as nowhere.
    void setSource(std::uint64_t place)
    {
        place = place > kMaxSource ? 0 : place;
        sourceLow = static_cast<std::uint32_t>(place);
        sourceHigh = static_cast<std::uint8_t>(place >> 32);
    }
    /// Brings times of any file into the range that sums of them do not overflow.
    void clampTimes()
    {
        begin = std::clamp(begin, -kTimeLimit, kTimeLimit);
        duration = std::clamp<std::int64_t>(duration, 0, kTimeLimit);
    }

    /// The depth came from the intervals, so later slices of the track may change it. Not shown outside.
    static constexpr std::uint8_t kInferredDepth = 128;
    static constexpr std::uint64_t kMaxSource = (std::uint64_t{1} << 40) - 1;
    /// Times and durations are kept within this (73 years).
    static constexpr std::int64_t kTimeLimit = std::int64_t{1} << 61;
};
static_assert(sizeof(RawSlice) == 48);

/// Order of a track: by begin, then longest first, so that outer slices come before inner ones; then by arrival.
inline bool beginsBefore(const RawSlice& a, const RawSlice& b)
{
    if (a.begin != b.begin)
        return a.begin < b.begin;
    return a.duration != b.duration ? a.duration > b.duration : a.ordinal < b.ordinal;
}

} // namespace profiler
