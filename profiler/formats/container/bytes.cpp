#include "profiler/formats/container/bytes.h"

#include <algorithm>
#include <bit>

namespace profiler::container {

void ByteWriter::putText(std::string_view text)
{
    put(static_cast<std::uint32_t>(text.size()));
    const auto raw = std::as_bytes(std::span{text.data(), text.size()});
    m_bytes.insert(m_bytes.end(), raw.begin(), raw.end());
}

void ByteWriter::putColumn(std::span<const std::int64_t> values)
{
    std::int64_t least = 0;
    std::int64_t largest = 0;
    if (!values.empty()) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        least = *low;
        largest = *high;
    }
    const auto base = static_cast<std::uint64_t>(least);
    const int width = (std::bit_width(static_cast<std::uint64_t>(largest) - base) + 7) / 8;
    put(least);
    put(static_cast<std::uint8_t>(width));
    std::size_t at = m_bytes.size();
    m_bytes.resize(at + values.size() * static_cast<std::size_t>(width));
    for (int plane = 0; plane < width; ++plane) {
        for (const std::int64_t value : values)
            m_bytes[at++] = static_cast<std::byte>((static_cast<std::uint64_t>(value) - base) >> 8 * plane);
    }
}

std::span<const std::byte> ByteReader::takeBytes(std::size_t count)
{
    if (m_failed || count > m_bytes.size()) {
        m_failed = true;
        return {};
    }
    const auto taken = m_bytes.first(count);
    m_bytes = m_bytes.subspan(count);
    return taken;
}

std::string_view ByteReader::takeText()
{
    const auto raw = takeBytes(take<std::uint32_t>());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

void ByteReader::takeColumn(std::span<std::int64_t> values)
{
    const auto base = static_cast<std::uint64_t>(take<std::int64_t>());
    const auto width = take<std::uint8_t>();
    if (width > sizeof base)
        m_failed = true;
    const auto planes = takeBytes(m_failed ? 0 : values.size() * width);
    if (m_failed)
        return;
    const std::byte* const from = planes.data();
    const std::size_t size = values.size();
    // Processes a few thousand numbers at a time, so that they stay in the cache while the planes are appended.
    constexpr std::size_t kRun = 2048;
    for (std::size_t first = 0; first < size; first += kRun) {
        const std::size_t last = std::min(first + kRun, size);
        for (std::size_t i = first; i < last; ++i)
            values[i] = static_cast<std::int64_t>(base);
        for (std::size_t plane = 0; plane < width; ++plane) {
            for (std::size_t i = first; i < last; ++i)
                values[i] =
                    static_cast<std::int64_t>(static_cast<std::uint64_t>(values[i]) +
                                              (std::to_integer<std::uint64_t>(from[plane * size + i]) << 8 * plane));
        }
    }
}

std::uint32_t ByteReader::takeCount(std::size_t least)
{
    const auto count = take<std::uint32_t>();
    if (m_failed || count > m_bytes.size() / least) {
        m_failed = true;
        return 0;
    }
    return count;
}

} // namespace profiler::container
