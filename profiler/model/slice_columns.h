#pragma once

#include "profiler/model/activity.h"

#include <cstdint>
#include <vector>

namespace profiler {

/// A slice on its way into a block: 40 bytes.
struct RawSlice {
    std::int64_t begin = 0, duration = 0; ///< ns; within ±kTimeLimit, not negative
    std::int64_t link = 0; ///< CpuOp: autograd sequence number, −1: none; else the correlation id, 0: none
    std::uint32_t name = 0;
    std::uint32_t args = 0;    ///< see ArgsPool
    std::uint32_t ordinal = 0; ///< of its SliceId
    ActivityKind kind = ActivityKind::Other;
    std::uint8_t depth = 0;
    std::uint8_t flags = 0; ///< slice_flag, and kInferredDepth

    [[nodiscard]] std::int64_t end() const { return begin + duration; }
    [[nodiscard]] bool inferred() const { return (flags & kInferredDepth) != 0; }

    /// The depth came from the intervals, so later slices of the track may change it. Not shown outside.
    static constexpr std::uint8_t kInferredDepth = 128;
    /// Times and durations are kept within this (73 years), so that sums of them do not overflow.
    static constexpr std::int64_t kTimeLimit = std::int64_t{1} << 61;
};
static_assert(sizeof(RawSlice) == 40);

/// Order of a block: by begin, then longest first, so that outer slices come before inner ones; then by arrival.
inline bool beginsBefore(const RawSlice& a, const RawSlice& b)
{
    if (a.begin != b.begin)
        return a.begin < b.begin;
    return a.duration != b.duration ? a.duration > b.duration : a.ordinal < b.ordinal;
}

/// Slices as columns, in the order of beginsBefore: position i of each is one slice.
struct SliceColumns {
    std::vector<std::int64_t> begin, duration, link;
    std::vector<std::uint32_t> name, args, ordinal;
    std::vector<ActivityKind> kind;
    std::vector<std::uint8_t> depth, flags;

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(begin.size()); }
    [[nodiscard]] std::int64_t end(std::uint32_t position) const { return begin[position] + duration[position]; }
};

} // namespace profiler
