#include "profiler/formats/pytorch/json_text.h"

#include <cstdint>
#include <iterator>

namespace profiler::formats::writers {

namespace {

/// Length of the UTF-8 character at the start of `text`; 0 if it is invalid. Source: Unicode 15, table 3-7.
std::size_t characterBytes(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
    const auto continues = [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i)
            if ((byte(i) & 0xc0) != 0x80)
                return false;
        return true;
    };
    const int first = byte(0), second = byte(1);
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return continues(1, 2) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const bool fits = (first != 0xe0 || second >= 0xa0) && (first != 0xed || second < 0xa0);
        return fits && continues(1, 3) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const bool fits = (first != 0xf0 || second >= 0x90) && (first != 0xf4 || second < 0x90);
        return fits && continues(1, 4) ? 4 : 0;
    }
    return 0;
}

} // namespace

void appendJsonString(std::string& out, std::string_view text)
{
    out += '"';
    while (!text.empty()) {
        const char c = text.front();
        const std::size_t bytes = characterBytes(text);
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
