#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// Appends fields of a protocol buffer message. Source: protobuf.dev/programming-guides/encoding.
class Proto {
public:
    void number(std::uint32_t field, std::uint64_t value)
    {
        varint(std::uint64_t{field} << 3);
        varint(value);
    }
    void text(std::uint32_t field, std::string_view value)
    {
        varint(std::uint64_t{field} << 3 | 2);
        varint(value.size());
        m_bytes += value;
    }
    void message(std::uint32_t field, const Proto& value) { text(field, value.m_bytes); }
    void fixed(std::uint32_t field, std::uint64_t value)
    {
        varint(std::uint64_t{field} << 3 | 1);
        for (int i = 0; i < 8; ++i)
            m_bytes += static_cast<char>(value >> (8 * i));
    }
    void real(std::uint32_t field, double value) { fixed(field, std::bit_cast<std::uint64_t>(value)); }
    void clear() { m_bytes.clear(); }
    [[nodiscard]] const std::string& bytes() const { return m_bytes; }

private:
    void varint(std::uint64_t value)
    {
        for (; value >= 0x80; value >>= 7)
            m_bytes += static_cast<char>(value | 0x80);
        m_bytes += static_cast<char>(value);
    }
    std::string m_bytes;
};

} // namespace profiler::formats::writers
