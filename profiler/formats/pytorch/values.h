// JSON values, parsed or skipped with every byte checked.
#pragma once

#include "profiler/formats/pytorch/event.h"
#include "profiler/formats/pytorch/json_text.h"
#include "profiler/model/slice_columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace profiler::formats::json {

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

/// Finds the end of a JSON value of any length, without validating it.
class ValueEnd {
public:
    /// Continues in [p, end), which starts with the value's first byte or continues the previous call's text.
    /// @return the position after the value's last byte; null if the value does not end there
    const char* pass(const char* p, const char* end)
    {
        for (; p < end; ++p) {
            if (m_inText) {
                if (m_escaped)
                    m_escaped = false;
                else if (*p == '\\')
                    m_escaped = true;
                else if (*p == '"')
                    m_inText = false;
                if (m_inText)
                    continue;
            } else {
                m_inText = *p == '"';
                m_depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            }
            if (m_depth == 0 && !m_inText)
                return p + 1;
        }
        return nullptr;
    }

private:
    std::int64_t m_depth = 0;
    bool m_inText = false, m_escaped = false;
};

inline constexpr std::array<std::int64_t, 9> kPowersOfTen = {1,      10,      100,      1000,     10000,
                                                             100000, 1000000, 10000000, 100000000};

/// Characters that may follow a number, a literal or a text.
inline constexpr std::array<bool, 256> kEndsScalar = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {',', '}', ']', ' ', '\n', '\r', '\t', ':'})
        table[c] = true;
    return table;
}();
inline bool endsScalar(char c)
{
    return kEndsScalar[static_cast<unsigned char>(c)];
}

/// Every function takes the position of a value's first byte and returns the position after the value. On a syntax
/// error, a function returns null and sets `problem` to the position of the error. Windows end with zeros (kPadding),
/// so no function reads past the end.
class Values {
public:
    const char* end = nullptr;     ///< end of the window
    const char* problem = nullptr; ///< position of the last syntax error; `end` if the window is too short
    bool tooDeep = false;          ///< the value at `problem` is nested deeper than kDeepest; no syntax error so far
    std::uint32_t odd = 0;         ///< accumulated Event::Oddity bits

    /// @param p  the position after the opening quote
    /// @return the closing quote
    const char* closingQuote(const char* p, bool& plain)
    {
        const char* begin = p;
        bool high = false;
        for (;;) {
            const Block block(p);
            const std::uint32_t marks = block.below(' ') | block.equal('"') | block.equal('\\');
            if (marks == 0) {
                p += 32;
                continue;
            }
            p += std::countr_zero(marks);
            if (*p == '"')
                break;
            plain = false;
            p = passMark(p, high);
            if (!p)
                return nullptr;
        }
        if (high && !isUtf8({begin, static_cast<std::size_t>(p - begin)}))
            odd |= Event::kBadUtf8;
        return p;
    }

    const char* text(const char* p)
    {
        bool plain = true;
        const char* quote = closingQuote(p + 1, plain);
        return quote ? quote + 1 : nullptr;
    }

    const char* number(const char* p)
    {
        p += *p == '-';
        if (!isDigit(*p))
            return fail(p);
        p = passDigits(p);
        if (*p == '.') {
            if (!isDigit(*++p))
                return fail(p);
            p = passDigits(p);
        }
        if (*p == 'e' || *p == 'E') {
            ++p;
            p += *p == '+' || *p == '-';
            if (!isDigit(*p))
                return fail(p);
            p = passDigits(p);
        }
        return endsScalar(*p) ? p : fail(p);
    }

    const char* scalar(const char* p)
    {
        switch (*p) {
        case '"':
            return text(p);
        case 't':
            return literal(p, "true");
        case 'f':
            return literal(p, "false");
        case 'n':
            return p[1] == 'a' ? notANumber(p, "nan") : literal(p, "null");
        case 'N':
            return notANumber(p, "NaN");
        case 'I':
            return notANumber(p, "Infinity");
        case 'i': // written by C's printf, and therefore by early versions of Kineto
            return notANumber(p, "inf");
        case '-':
            if (p[1] == 'I')
                return notANumber(p, "-Infinity");
            if (p[1] == 'i' || p[1] == 'n')
                return notANumber(p, p[1] == 'i' ? "-inf" : "-nan");
            [[fallthrough]];
        default:
            return number(p);
        }
    }

    const char* any(const char* p) { return *p == '{' || *p == '[' ? container(p) : scalar(p); }

    /// A 64-bit integer, possibly in quotes. `known` is set if there is one.
    const char* integer(const char* p, std::int64_t& value, bool& known)
    {
        auto [sum, length, after] = wholePart(p);
        if (length > 0 && length < 16 && endsScalar(*after)) {
            value = *p == '-' ? -sum : sum;
            known = true;
            return after;
        }
        return slowInteger(p, value, known);
    }

    /// Converts microseconds to nanoseconds.
    const char* time(const char* p, std::int64_t& ns, bool& known)
    {
        auto [sum, length, after] = wholePart(p);
        bool whole = length > 0 && sum < kMostMicroseconds;
        sum = whole ? sum * 1000 : 0;
        if (whole && *after == '.') {
            const Digits run = digits(after + 1);
            whole = run.count > 0 && run.count <= 3;
            sum += run.value * kPowersOfTen[whole ? 3 - run.count : 0];
            after += 1 + run.count;
        }
        if (!whole || !endsScalar(*after))
            return slowTime(p, ns, known);
        ns = *p == '-' ? -sum : sum;
        known = withinLimit(ns);
        return after;
    }

    static constexpr std::size_t kDeepest = 1'000'000; ///< levels of nesting

private:
    /// Up to sixteen leading digits of a number without its sign, and the position after them.
    struct WholePart {
        std::int64_t value;
        unsigned length;
        const char* after;
    };
    static WholePart wholePart(const char* p)
    {
        p += *p == '-';
        const Digits first = digits(p);
        p += first.count;
        if (first.count < 8)
            return {first.value, first.count, p};
        const Digits rest = digits(p);
        return {first.value * kPowersOfTen[rest.count] + rest.value, 8 + rest.count, p + rest.count};
    }

    static constexpr std::size_t kUsualDepth = 512;
    static constexpr std::int64_t kMostMicroseconds = 9'000'000'000'000'000; ///< largest whose ns fit in 64 bits

    const char* fail(const char* p)
    {
        problem = p;
        return nullptr;
    }

    /// Skips a byte inside a text that is not a plain character: an escape, a control character, or the first non-ASCII
    /// byte of a run.
    const char* passMark(const char* p, bool& high)
    {
        if (*p == '\\') {
            if (p + 1 >= end)
                return fail(end);
            if (std::string_view("\"\\/bfnrtu").find(p[1]) == std::string_view::npos) {
                odd |= Event::kBadEscape;
                return p + 1;
            }
            return p + 2;
        }
        if (static_cast<signed char>(*p) < 0) {
            high = true;
            while (static_cast<signed char>(*p) < 0)
                ++p;
            return p;
        }
        if (p >= end)
            return fail(end);
        odd |= Event::kControlText;
        return p + 1;
    }

    static const char* passDigits(const char* p)
    {
        unsigned count = 0;
        do {
            count = digits(p).count;
            p += count;
        } while (count == 8);
        return p;
    }

    const char* literal(const char* p, std::string_view word)
    {
        for (std::size_t i = 0; i < word.size(); ++i)
            if (p[i] != word[i])
                return fail(p + i);
        p += word.size();
        return endsScalar(*p) ? p : fail(p);
    }

    const char* notANumber(const char* p, std::string_view word)
    {
        odd |= Event::kNotANumber;
        return literal(p, word);
    }

    const char* container(const char* p);
    /// Grows the stack of closing brackets; null if the limit is reached.
    char* deeper(std::size_t depth, char* closers);
    const char* slowInteger(const char* p, std::int64_t& value, bool& known);
    const char* slowTime(const char* p, std::int64_t& ns, bool& known);
    std::string m_closers; ///< closing brackets of a deeply nested value

    bool withinLimit(std::int64_t ns)
    {
        if (ns >= -RawSlice::kTimeLimit && ns <= RawSlice::kTimeLimit)
            return true;
        odd |= Event::kHugeTime;
        return false;
    }
};

inline char* Values::deeper(std::size_t depth, char* closers)
{
    if (depth >= kDeepest)
        return nullptr;
    const std::string before(closers, depth);
    m_closers.assign(std::min(8 * depth, kDeepest), ' ');
    std::copy(before.begin(), before.end(), m_closers.begin());
    return m_closers.data();
}

inline const char* Values::container(const char* p)
{
    char usual[kUsualDepth];
    char* closers = usual;
    std::size_t room = kUsualDepth, depth = 0;
    for (;;) {
        // At a value: enters containers and skips everything else.
        if (*p == '{' || *p == '[') {
            if (depth == room) {
                closers = deeper(depth, closers);
                room = m_closers.size();
                tooDeep = !closers;
                if (tooDeep)
                    return fail(p);
            }
            closers[depth++] = *p == '{' ? '}' : ']';
            p = skipSpace(p + 1);
        } else {
            p = scalar(p);
            if (!p)
                return nullptr;
            p = skipSpace(p);
            if (*p != closers[depth - 1]) {
                if (*p != ',')
                    return fail(p);
                p = skipSpace(p + 1);
                if (*p == closers[depth - 1])
                    return fail(p);
            }
        }
        while (*p == closers[depth - 1]) {
            ++p;
            if (--depth == 0)
                return p;
            p = skipSpace(p);
            if (*p == ',') {
                p = skipSpace(p + 1);
                if (*p == closers[depth - 1])
                    return fail(p);
                break;
            }
            if (*p != closers[depth - 1])
                return fail(p);
        }
        if (closers[depth - 1] == '}') {
            if (*p != '"')
                return fail(p);
            p = text(p);
            if (!p)
                return nullptr;
            p = skipSpace(p);
            if (*p != ':')
                return fail(p);
            p = skipSpace(p + 1);
        }
    }
}

inline const char* Values::slowInteger(const char* p, std::int64_t& value, bool& known)
{
    const char* after = any(p);
    if (!after)
        return nullptr;
    const bool quoted = *p == '"';
    const auto found = json::integer({p + quoted, static_cast<std::size_t>(after - p) - 2 * quoted});
    if (found) {
        value = *found;
        known = true;
    } else if (isDigit(*p) || *p == '-') {
        odd |= Event::kBadNumber;
    }
    return after;
}

inline const char* Values::slowTime(const char* p, std::int64_t& ns, bool& known)
{
    const char* after = any(p);
    if (!after)
        return nullptr;
    const bool quoted = *p == '"';
    const auto found = nanoseconds({p + quoted, static_cast<std::size_t>(after - p) - 2 * quoted});
    if (found) {
        ns = *found;
        known = withinLimit(ns);
    } else {
        odd |= isDigit(p[*p == '-']) ? Event::kHugeTime : Event::kBadTime;
    }
    return after;
}

/// Calls visit(key, value) with the raw text of each entry of an object in a window; the key is without its quotes.
/// @param object  has no syntax error
template <class Visit>
void forEachEntry(std::string_view object, Values& reader, Visit&& visit)
{
    const char* p = skipSpace(object.data() + 1);
    while (*p != '}') {
        const char* after = reader.text(p);
        const std::string_view key(p + 1, static_cast<std::size_t>(after - p - 2));
        p = skipSpace(skipSpace(after) + 1);
        after = reader.any(p);
        visit(key, std::string_view(p, static_cast<std::size_t>(after - p)));
        p = skipSpace(after);
        if (*p == ',')
            p = skipSpace(p + 1);
    }
}

} // namespace profiler::formats::json
