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
#include <optional>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace profiler::formats::json {

/// 32 bytes starting at `p`. Each mask has one bit per byte; the lowest bit is the first byte. AVX2 measured 10 %
/// slower than SSE2, because most texts and gaps are short.
class Block {
public:
    explicit Block(const char* p)
    {
        std::memcpy(&m_low, p, sizeof m_low);
        std::memcpy(&m_upper, p + sizeof m_low, sizeof m_upper);
    }
    [[nodiscard]] std::uint32_t equal(char c) const { return mask(m_low == c, m_upper == c); }
    [[nodiscard]] std::uint32_t equal(const Block& other) const
    {
        return mask(m_low == other.m_low, m_upper == other.m_upper);
    }
    [[nodiscard]] std::uint32_t below(char c) const { return mask(m_low < c, m_upper < c); }

private:
    using Half [[gnu::vector_size(16)]] = signed char;

    static std::uint32_t mask(Half bytes)
    {
#if defined(__SSE2__)
        return static_cast<std::uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(bytes)));
#else
        std::uint32_t bits = 0;
        for (unsigned i = 0; i < sizeof bytes; ++i)
            bits |= (bytes[i] != 0 ? 1U : 0U) << i;
        return bits;
#endif
    }
    static std::uint32_t mask(Half low, Half upper)
    {
        return mask(low) | mask(upper) << 16;
    }

    Half m_low, m_upper;
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

    std::nullptr_t fail(const char* p)
    {
        problem = p;
        return nullptr;
    }

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

    /// Reads a key and its colon.
    /// @param found  the key without its quotes
    /// @return the value's first byte
    const char* key(const char* p, std::string_view& found)
    {
        if (*p != '"')
            return fail(p);
        bool plain = true;
        const char* quote = closingQuote(p + 1, plain);
        if (!quote)
            return nullptr;
        found = {p + 1, static_cast<std::size_t>(quote - p - 1)};
        p = skipSpace(quote + 1);
        return *p == ':' ? skipSpace(p + 1) : fail(p);
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

    const char* scalar(const char* p) { return *p == '"' ? text(p) : isDigit(p[*p == '-']) ? number(p) : word(p); }

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

    static constexpr std::int64_t kMostMicroseconds = 9'000'000'000'000'000; ///< largest whose ns fit in 64 bits

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

    /// A literal. A syntax error is where the text differs from all of them.
    const char* word(const char* p)
    {
        // "inf" and "nan" are written by C's printf, and therefore by early versions of Kineto.
        constexpr std::string_view kWords[] = {"true",      "false", "null", "NaN",  "Infinity",
                                               "-Infinity", "nan",   "inf",  "-inf", "-nan"};
        constexpr std::size_t kOfJson = 3; // the others are not valid JSON
        std::size_t longest = 0;
        for (const std::string_view& word : kWords) {
            const auto same = static_cast<std::size_t>(std::mismatch(word.begin(), word.end(), p).first - word.begin());
            longest = std::max(longest, same);
            if (same < word.size())
                continue;
            odd |= &word >= kWords + kOfJson ? Event::kNotANumber : 0U;
            return endsScalar(p[same]) ? p + same : fail(p + same);
        }
        return fail(p + longest);
    }

    const char* container(const char* p)
    {
        char* closers = m_closers.data();
        std::size_t depth = 0;
        for (;;) {
            // At a value: enters containers and skips everything else.
            if (*p == '{' || *p == '[') {
                if (depth == m_closers.size()) {
                    tooDeep = depth >= kDeepest;
                    if (tooDeep)
                        return fail(p);
                    m_closers.resize(std::min(8 * depth, kDeepest));
                    closers = m_closers.data();
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
                std::string_view ignored;
                p = key(p, ignored);
                if (!p)
                    return nullptr;
            }
        }
    }

    /// Reads a number in any notation, possibly in quotes.
    const char* slowNumber(const char* p, std::optional<std::int64_t> (*read)(std::string_view),
                           std::optional<std::int64_t>& found)
    {
        const char* after = any(p);
        const bool quoted = *p == '"';
        found = after ? read({p + quoted, static_cast<std::size_t>(after - p) - 2 * quoted}) : std::nullopt;
        return after;
    }

    const char* slowInteger(const char* p, std::int64_t& value, bool& known)
    {
        std::optional<std::int64_t> found;
        const char* after = slowNumber(p, json::integer, found);
        known = found.has_value();
        value = found.value_or(value);
        odd |= after && !known && (isDigit(*p) || *p == '-') ? Event::kBadNumber : 0U;
        return after;
    }

    const char* slowTime(const char* p, std::int64_t& ns, bool& known)
    {
        std::optional<std::int64_t> found;
        const char* after = slowNumber(p, nanoseconds, found);
        known = found && withinLimit(*found);
        ns = found.value_or(ns);
        if (after && !found)
            odd |= isDigit(p[*p == '-']) ? Event::kHugeTime : Event::kBadTime;
        return after;
    }

    std::string m_closers = std::string(15, ' '); ///< the stack of closing brackets; so many need no allocation

    bool withinLimit(std::int64_t ns)
    {
        if (ns >= -RawSlice::kTimeLimit && ns <= RawSlice::kTimeLimit)
            return true;
        odd |= Event::kHugeTime;
        return false;
    }
};

/// Calls visit(key, value) with the raw text of each entry of an object in a window; the key is without its quotes.
/// @param object  has no syntax error
template <class Visit>
void forEachEntry(std::string_view object, Values& reader, Visit&& visit)
{
    const char* p = skipSpace(object.data() + 1);
    while (*p != '}') {
        std::string_view key;
        p = reader.key(p, key);
        const char* after = reader.any(p);
        visit(key, std::string_view(p, static_cast<std::size_t>(after - p)));
        p = skipSpace(after);
        if (*p == ',')
            p = skipSpace(p + 1);
    }
}

} // namespace profiler::formats::json
