#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace profiler::formats::json {

/// Number of bytes after the end of a window that may be read; they are zero.
inline constexpr std::size_t kPadding = 128;

/// 32 bytes starting at `p`. Each mask has one bit per byte; the lowest bit is the first byte. SSE2 is available on
/// every x86-64 CPU. AVX2 measured 10 % slower, because most texts and gaps are short.
struct Block {
#if defined(__SSE2__)
    __m128i low, upper;
    explicit Block(const char* p)
        : low(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          upper(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))
    {
    }
    static std::uint32_t mask(__m128i a, __m128i b)
    {
        return static_cast<std::uint32_t>(_mm_movemask_epi8(a)) | static_cast<std::uint32_t>(_mm_movemask_epi8(b))
                                                                      << 16;
    }
    [[nodiscard]] std::uint32_t equal(char c) const
    {
        return mask(_mm_cmpeq_epi8(low, _mm_set1_epi8(c)), _mm_cmpeq_epi8(upper, _mm_set1_epi8(c)));
    }
    [[nodiscard]] std::uint32_t equal(const Block& other) const
    {
        return mask(_mm_cmpeq_epi8(low, other.low), _mm_cmpeq_epi8(upper, other.upper));
    }
    [[nodiscard]] std::uint32_t below(char c) const
    {
        return mask(_mm_cmpgt_epi8(_mm_set1_epi8(c), low), _mm_cmpgt_epi8(_mm_set1_epi8(c), upper));
    }
    [[nodiscard]] std::uint32_t high() const
    {
        return mask(low, upper);
    }
#else
    signed char bytes[32];
    explicit Block(const char* p)
    {
        std::memcpy(bytes, p, sizeof bytes);
    }
    template <class Test>
    std::uint32_t mask(Test test) const
    {
        std::uint32_t bits = 0;
        for (int i = 0; i < 32; ++i)
            bits |= static_cast<std::uint32_t>(test(i)) << i;
        return bits;
    }
    [[nodiscard]] std::uint32_t equal(char c) const
    {
        return mask([&](int i) { return bytes[i] == static_cast<signed char>(c); });
    }
    [[nodiscard]] std::uint32_t equal(const Block& other) const
    {
        return mask([&](int i) { return bytes[i] == other.bytes[i]; });
    }
    [[nodiscard]] std::uint32_t below(char c) const
    {
        return mask([&](int i) { return bytes[i] < static_cast<signed char>(c); });
    }
    [[nodiscard]] std::uint32_t high() const
    {
        return mask([&](int i) { return bytes[i] < 0; });
    }
#endif
};

inline std::uint64_t load64(const char* p)
{
    std::uint64_t value = 0;
    std::memcpy(&value, p, sizeof value);
    if constexpr (std::endian::native == std::endian::big)
        value = __builtin_bswap64(value);
    return value;
}

inline bool isSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

inline const char* skipSpace(const char* p)
{
    while (isSpace(*p))
        ++p;
    return p;
}

inline bool isDigit(char c)
{
    return static_cast<unsigned char>(c - '0') < 10;
}

/// A run of at most eight digits: its length and its value.
struct Digits {
    unsigned count;
    std::uint32_t value;
};

inline Digits digits(const char* p)
{
    const std::uint64_t text = load64(p) ^ 0x3030303030303030ULL; // digits become 0…9
    const std::uint64_t others = ((text + 0x7676767676767676ULL) | text) & 0x8080808080808080ULL;
    const unsigned count = others == 0 ? 8U : static_cast<unsigned>(std::countr_zero(others)) / 8;
    if (count == 0)
        return {0, 0};
    // The first digit is in the lowest byte; leading zeros do not change the value. Digits are combined into pairs,
    // then fours, then eights.
    std::uint64_t value = text << (64 - 8 * count);
    value = (value * 10 + (value >> 8)) & 0x00ff00ff00ff00ffULL;
    value = (value * 100 + (value >> 16)) & 0x0000ffff0000ffffULL;
    value = (value * 10000 + (value >> 32)) & 0xffffffffULL;
    return {count, static_cast<std::uint32_t>(value)};
}

} // namespace profiler::formats::json
