#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace profiler {

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

} // namespace profiler
