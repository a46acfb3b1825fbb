#pragma once

#include "profiler/model/activity.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

/// Slices as a builder receives them, one by one, and as a block stores them, in packed columns.
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

/// Integers stored relative to the smallest one, each in as many bytes as the range needs (none if all are equal).
/// Immutable; reading one costs one unaligned load. Little-endian hosts only.
class PackedColumn {
public:
    PackedColumn() = default;

    /// @param value  called with 0 … size − 1, in order; returns values in [least, largest]
    template <class Value>
    static PackedColumn of(std::uint32_t size, std::int64_t least, std::int64_t largest, Value&& value)
    {
        PackedColumn column{size, least, largest};
        switch (column.m_width) {
        case 0:
            break;
        case 1:
            column.fill<1>(size, value);
            break;
        case 2:
            column.fill<2>(size, value);
            break;
        case 3:
            column.fill<3>(size, value);
            break;
        case 4:
            column.fill<4>(size, value);
            break;
        default:
            column.fill<0>(size, value);
        }
        return column;
    }

    [[nodiscard]] std::int64_t operator[](std::uint32_t index) const
    {
        std::uint64_t bits = 0;
        std::memcpy(&bits, m_bytes.get() + std::size_t{index} * m_width, sizeof bits);
        return static_cast<std::int64_t>(m_base + (bits & m_mask));
    }
    [[nodiscard]] std::size_t bytes() const { return m_held; }

private:
    PackedColumn(std::uint32_t size, std::int64_t least, std::int64_t largest)
        : m_base(static_cast<std::uint64_t>(least))
    {
        const std::uint64_t span = static_cast<std::uint64_t>(largest) - m_base;
        m_width = static_cast<std::uint32_t>(std::bit_width(span) + 7) / 8;
        m_mask = m_width == sizeof span ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * m_width) - 1;
        m_held = std::size_t{size} * m_width + sizeof span; // a load may read past the last number
        m_bytes = std::make_unique<std::byte[]>(m_held);
    }
    /// One instance for each width, so that the width is a compile-time constant; 0 means any width.
    template <std::uint32_t Width, class Value>
    void fill(std::uint32_t size, Value&& value)
    {
        const std::uint32_t width = Width == 0 ? m_width : Width;
        std::byte* at = m_bytes.get();
        for (std::uint32_t i = 0; i < size; ++i, at += width) {
            // The bytes beyond the width belong to the next number, which is written later.
            const std::uint64_t bits = static_cast<std::uint64_t>(value(i)) - m_base;
            std::memcpy(at, &bits, sizeof bits);
        }
    }

    std::unique_ptr<std::byte[]> m_bytes;
    std::uint64_t m_base = 0, m_mask = 0;
    std::size_t m_held = 0;
    std::uint32_t m_width = 0;
};
static_assert(std::endian::native == std::endian::little);

/// The smallest and largest number that a PackedColumn will contain.
struct ColumnRange {
    std::int64_t least = 0, largest = 0;

    void start(std::int64_t value) { least = largest = value; }
    void add(std::int64_t value)
    {
        least = value < least ? value : least;
        largest = value > largest ? value : largest;
    }
    template <class Value>
    [[nodiscard]] PackedColumn pack(std::uint32_t size, Value&& value) const
    {
        return PackedColumn::of(size, least, largest, value);
    }
};

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
