#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace profiler::container {

using Bytes = std::vector<std::byte>;

/// Appends numbers, texts and columns of numbers in the format's byte order, little-endian.
class ByteWriter {
public:
    template <class T>
    void put(T value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto raw = std::as_bytes(std::span{&value, 1});
        m_bytes.insert(m_bytes.end(), raw.begin(), raw.end());
    }
    void putText(std::string_view text);
    /// Subtracts the smallest number from each number and stores the results with the smallest sufficient number of
    /// bytes, plane by plane: first all lowest bytes, then the next ones. The bytes within a plane are similar, which
    /// helps the compressor.
    void putColumn(std::span<const std::int64_t> values);

    [[nodiscard]] Bytes& bytes() { return m_bytes; }

private:
    Bytes m_bytes;
};

/// Reads what ByteWriter wrote. After the first missing value, all results are empty and failed() is true.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    template <class T>
    T take()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        if (const auto raw = takeBytes(sizeof value); !raw.empty())
            std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    std::string_view takeText();
    /// Fills all of `values`.
    void takeColumn(std::span<std::int64_t> values);
    /// A count of items that take at least `least` bytes each. If that many cannot follow, returns 0 and failed()
    /// becomes true.
    std::uint32_t takeCount(std::size_t least);

    [[nodiscard]] bool failed() const { return m_failed; }
    [[nodiscard]] bool atEnd() const { return m_bytes.empty(); }
    void fail() { m_failed = true; }

private:
    std::span<const std::byte> takeBytes(std::size_t count);

    std::span<const std::byte> m_bytes;
    bool m_failed = false;
};

} // namespace profiler::container
