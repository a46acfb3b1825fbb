#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

/// Numbers in texts from outside: metadata of traces, settings, command lines.
namespace profiler {

/// The number that is the whole text, in the format of std::from_chars; no value for any other text, and for a number
/// outside the range of the type.
template <class Number>
std::optional<Number> parseNumber(std::string_view text)
{
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

} // namespace profiler
