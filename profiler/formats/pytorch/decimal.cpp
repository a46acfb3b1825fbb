#include "profiler/formats/pytorch/decimal.h"

#include <algorithm>

namespace profiler::formats::json {

namespace {

struct Decimal {
    bool negative = false;
    std::uint64_t digits = 0;  ///< the first kMostDigits significant digits
    std::int64_t exponent = 0; ///< value = digits × 10^exponent
    bool more = false;         ///< nonzero digits were omitted
};
constexpr int kMostDigits = 19;
constexpr std::int64_t kMostExponent = 100000;

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Consumes the digits at the start of `text`.
bool takeDigits(std::string_view& text, Decimal& value, int& kept, bool fraction)
{
    const std::size_t before = text.size();
    for (; !text.empty() && isDigit(text.front()); text.remove_prefix(1)) {
        const auto digit = static_cast<std::uint64_t>(text.front() - '0');
        if (kept < kMostDigits) {
            value.digits = value.digits * 10 + digit;
            kept += value.digits != 0;
            value.exponent -= fraction;
        } else {
            value.more = value.more || digit != 0;
            value.exponent += !fraction;
        }
    }
    return text.size() != before;
}

bool takeExponent(std::string_view& text, Decimal& value)
{
    text.remove_prefix(1);
    const bool negative = !text.empty() && text.front() == '-';
    if (!text.empty() && (text.front() == '-' || text.front() == '+'))
        text.remove_prefix(1);
    if (text.empty())
        return false;
    std::int64_t exponent = 0;
    for (; !text.empty() && isDigit(text.front()); text.remove_prefix(1))
        exponent = std::min(exponent * 10 + (text.front() - '0'), kMostExponent);
    value.exponent += negative ? -exponent : exponent;
    return true;
}

std::optional<Decimal> decimal(std::string_view text)
{
    Decimal value;
    if (!text.empty() && text.front() == '-') {
        value.negative = true;
        text.remove_prefix(1);
    }
    int kept = 0;
    if (!takeDigits(text, value, kept, false))
        return std::nullopt;
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        if (!takeDigits(text, value, kept, true))
            return std::nullopt;
    }
    if (!text.empty() && (text.front() == 'e' || text.front() == 'E') && !takeExponent(text, value))
        return std::nullopt;
    return text.empty() ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> scaled(Decimal value, bool exact)
{
    constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
    for (; value.exponent > 0 && value.digits != 0; --value.exponent)
        if (value.digits > kMost / 10)
            return std::nullopt;
        else
            value.digits *= 10;
    std::uint64_t last = 0;
    for (; value.exponent < 0 && (value.digits != 0 || last != 0); ++value.exponent) {
        value.more = value.more || last != 0;
        last = value.digits % 10;
        value.digits /= 10;
    }
    if (exact && (last != 0 || value.more))
        return std::nullopt;
    value.digits += last >= 5;
    if (value.digits >= kMost)
        return std::nullopt;
    const auto magnitude = static_cast<std::int64_t>(value.digits);
    return value.negative ? -magnitude : magnitude;
}

} // namespace

std::optional<std::int64_t> nanoseconds(std::string_view microseconds)
{
    auto value = decimal(microseconds);
    if (!value)
        return std::nullopt;
    value->exponent += 3;
    return scaled(*value, false);
}

std::optional<std::int64_t> integer(std::string_view number)
{
    const auto value = decimal(number);
    return value ? scaled(*value, true) : std::nullopt;
}

} // namespace profiler::formats::json
