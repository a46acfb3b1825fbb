#pragma once

#include "profiler/model/packed_column.h"
#include "profiler/model/raw_slice.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace profiler {

/// Start, duration and name of slices: element i of each column belongs to slice i.
struct TimeColumns {
    PackedColumn begin, duration, name;
    [[nodiscard]] std::size_t bytes() const { return begin.bytes() + duration.bytes() + name.bytes(); }
};

/// Slices as columns, in the order of beginsBefore: position i of each column is one slice. Takes 15 to 40 bytes per
/// slice.
class SliceColumns {
public:
    /// @param sorted  at least one slice, at most kMaxSlices
    explicit SliceColumns(std::span<const RawSlice> sorted);

    [[nodiscard]] std::uint32_t size() const { return m_size; }
    [[nodiscard]] std::int64_t begin(std::uint32_t position) const { return m_times.begin[position]; }
    [[nodiscard]] std::int64_t duration(std::uint32_t position) const { return m_times.duration[position]; }
    [[nodiscard]] std::int64_t end(std::uint32_t position) const { return begin(position) + duration(position); }
    [[nodiscard]] std::int64_t link(std::uint32_t position) const { return m_link[position]; }
    [[nodiscard]] std::uint32_t name(std::uint32_t position) const
    {
        return static_cast<std::uint32_t>(m_times.name[position]);
    }
    [[nodiscard]] ActivityKind kind(std::uint32_t position) const
    {
        return static_cast<ActivityKind>(m_kind[position]);
    }
    [[nodiscard]] std::uint8_t depth(std::uint32_t position) const
    {
        return static_cast<std::uint8_t>(m_depth[position]);
    }
    [[nodiscard]] std::uint32_t ordinal(std::uint32_t position) const
    {
        return static_cast<std::uint32_t>(m_ordinalAhead[position] + position);
    }
    [[nodiscard]] const TimeColumns& times() const { return m_times; }
    [[nodiscard]] RawSlice at(std::uint32_t position) const;
    /// The first position that starts at `time` or later. O(log n).
    [[nodiscard]] std::uint32_t firstFrom(std::int64_t time) const;
    [[nodiscard]] std::size_t bytes() const;

    static constexpr std::uint32_t kMaxSlices = 1U << 16; ///< so that positions fit into two bytes

private:
    std::uint32_t m_size;
    TimeColumns m_times;
    PackedColumn m_link, m_args, m_external, m_source;
    PackedColumn m_kind, m_depth, m_flags;
    PackedColumn m_ordinalAhead; ///< ordinal − position: all equal if both orders agree
};

} // namespace profiler
