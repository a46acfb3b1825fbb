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
    if (code < 0x80) {
        out += static_cast<char>(code);
        return;
    }
    const unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; // bytes after the first
    out += static_cast<char>(0xFF00U >> (more + 1) | code >> 6 * more);
    for (unsigned i = more; i-- > 0;)
        out += static_cast<char>(0x80 | (code >> 6 * i & 0x3F));
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

/// The parts of a number in JSON's notation.
struct Decimal {
    bool negative = false;
    std::string_view whole, fraction; ///< digits
    std::int64_t exponent = 0;
};

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::optional<Decimal> decimal(std::string_view text)
{
    const auto take = [&](char c) {
        const bool found = text.starts_with(c);
        text.remove_prefix(found);
        return found;
    };
    const auto takeDigits = [&] {
        const auto other = std::find_if_not(text.begin(), text.end(), isDigit);
        const auto digits = text.substr(0, static_cast<std::size_t>(other - text.begin()));
        text.remove_prefix(digits.size());
        return digits;
    };
    Decimal value;
    value.negative = take('-');
    value.whole = takeDigits();
    if (value.whole.empty())
        return std::nullopt;
    if (take('.') && (value.fraction = takeDigits()).empty())
        return std::nullopt;
    if (take('e') || take('E')) {
        constexpr std::int64_t kMost = 100000;
        const bool negative = take('-');
        if (!negative)
            take('+');
        const std::string_view digits = takeDigits();
        if (digits.empty())
            return std::nullopt;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value.exponent);
        value.exponent = std::min(read.ec == std::errc{} ? value.exponent : kMost, kMost);
        value.exponent = negative ? -value.exponent : value.exponent;
    }
    return text.empty() ? std::optional(value) : std::nullopt;
}

/// value × 10^exponent, rounded to the nearest integer. Empty if it exceeds 64 bits, or if it is not an integer
/// although `exact` requires one.
std::optional<std::int64_t> scaled(const Decimal& value, std::int64_t exponent, bool exact)
{
    constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
    std::uint64_t sum = 0;
    const auto append = [&](unsigned digit) {
        const bool fits = sum <= kMost / 10;
        sum = sum * 10 + digit;
        return fits;
    };
    std::int64_t left = std::ssize(value.whole) + value.exponent + exponent; // digits before the point
    bool up = false, rest = false;
    for (const std::string_view digits : {value.whole, value.fraction})
        for (const char c : digits) {
            const auto digit = static_cast<unsigned>(c - '0');
            if (left > 0 && !append(digit))
                return std::nullopt;
            up = up || (left == 0 && digit >= 5);
            rest = rest || (left <= 0 && digit != 0);
            --left;
        }
    for (; left > 0 && sum != 0; --left)
        if (!append(0))
            return std::nullopt;
    sum += up;
    if (sum >= kMost || (exact && rest))
        return std::nullopt;
    const auto magnitude = static_cast<std::int64_t>(sum);
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
    const auto value = decimal(microseconds);
    return value ? scaled(*value, 3, false) : std::nullopt;
}

std::optional<std::int64_t> integer(std::string_view number)
{
    const auto value = decimal(number);
    return value ? scaled(*value, 0, true) : std::nullopt;
}

bool isNumber(std::string_view text)
{
    const auto value = decimal(text);
    return value && !(value->whole.size() > 1 && value->whole.front() == '0');
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
