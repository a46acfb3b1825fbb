#include "profiler/formats/pytorch/texts.h"

#include <charconv>
#include <optional>

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

} // namespace

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

} // namespace profiler::formats::json
