#include "profiler/formats/pytorch/json_text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <simdjson.h>

namespace profiler::formats::json {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void appendUtf8(std::string& out, std::uint32_t code)
{
    const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xC0 | code >> 6);
        byte(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        byte(0xE0 | code >> 12);
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    } else {
        byte(0xF0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3F));
        byte(0x80 | (code >> 6 & 0x3F));
        byte(0x80 | (code & 0x3F));
    }
}

/// The four hexadecimal digits after "\u".
std::optional<std::uint32_t> hex4(std::string_view text)
{
    std::uint32_t code = 0;
    if (text.size() < 4)
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
    return error == std::errc{} && end == text.data() + 4 ? std::optional(code) : std::nullopt;
}

/// Appends the character that an escape represents. Returns the number of characters after the backslash.
std::size_t appendEscape(std::string& out, std::string_view after)
{
    constexpr std::string_view kLetters = "bfnrt\"\\/", kMeanings = "\b\f\n\r\t\"\\/";
    if (const auto i = kLetters.find(after.front()); i != kLetters.npos) {
        out += kMeanings[i];
        return 1;
    }
    const auto code = after.front() == 'u' ? hex4(after.substr(1)) : std::nullopt;
    if (!code) {
        out += '\\'; // not an escape, for example an unescaped Windows path
        return 0;
    }
    if (*code < 0xD800 || *code > 0xDFFF) {
        appendUtf8(out, *code);
        return 5;
    }
    const auto low = after.substr(5).starts_with("\\u") ? hex4(after.substr(7)) : std::nullopt;
    if (*code > 0xDBFF || !low || *low < 0xDC00 || *low > 0xDFFF) {
        out += kReplacement;
        return 5;
    }
    appendUtf8(out, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
    return 11;
}

/// Bytes of the valid UTF-8 character at the front; 0 if there is none.
std::size_t utf8Length(std::string_view text)
{
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const unsigned first = at(0);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xC2 && first < 0xE0 ? 2
                               : first >> 4 == 14              ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    for (std::size_t i = 1; i < length; ++i)
        if (at(i) >> 6 != 2)
            return 0;
    const bool overlong = (first == 0xE0 && at(1) < 0xA0) || (first == 0xF0 && at(1) < 0x90);
    const bool outside = (first == 0xED && at(1) > 0x9F) || (first == 0xF4 && at(1) > 0x8F);
    return overlong || outside ? 0 : length;
}

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

bool isUtf8(std::string_view text)
{
    return simdjson::validate_utf8(text.data(), text.size());
}

std::string unescaped(std::string_view raw)
{
    std::string out;
    out.reserve(raw.size());
    while (!raw.empty()) {
        if (raw.front() == '\\' && raw.size() > 1) {
            raw.remove_prefix(1);
            raw.remove_prefix(appendEscape(out, raw));
            continue;
        }
        const std::size_t length = utf8Length(raw);
        out += length == 0 ? kReplacement : raw.substr(0, length);
        raw.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

std::string plainArray(std::string_view json)
{
    std::string out;
    out.reserve(json.size());
    while (!json.empty()) {
        const char c = json.front();
        json.remove_prefix(1);
        if (c == '"') {
            std::size_t end = 0;
            while (end < json.size() && json[end] != '"')
                end += json[end] == '\\' ? 2 : 1;
            out += unescaped(json.substr(0, end));
            json.remove_prefix(end < json.size() ? end + 1 : json.size());
        } else if (c == ',') {
            out += ", ";
        } else if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            out += c;
        }
    }
    return out;
}

std::string plainValue(std::string_view json)
{
    return json.size() >= 2 && json.front() == '"' ? unescaped(json.substr(1, json.size() - 2)) : std::string(json);
}

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

bool isNumber(std::string_view text)
{
    const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
    return decimal(text) && !(digits.size() > 1 && digits[0] == '0' && isDigit(digits[1]));
}

} // namespace profiler::formats::json

namespace profiler::formats::writers {

void appendJsonString(std::string& out, std::string_view text)
{
    out += '"';
    while (!text.empty()) {
        const char c = text.front();
        const std::size_t bytes = json::utf8Length(text);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
        } else if (bytes == 0) {
            out += "\xef\xbf\xbd";
        } else {
            out.append(text.substr(0, bytes));
        }
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    out += '"';
}

void appendMicroseconds(std::string& out, std::int64_t ns)
{
    // The magnitude is unsigned, because the smallest integer has no signed magnitude.
    const std::uint64_t magnitude = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    if (ns < 0)
        out += '-';
    const auto whole = magnitude / 1000, part = magnitude % 1000;
    if (part == 0)
        fmt::format_to(std::back_inserter(out), "{}", whole);
    else
        fmt::format_to(std::back_inserter(out), "{}.{:03}", whole, part);
}

} // namespace profiler::formats::writers
