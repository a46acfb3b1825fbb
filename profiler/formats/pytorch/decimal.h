#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace profiler::formats::json {

/// Converts a decimal number of microseconds to nanoseconds exactly: "1712195495406752.797", "-3", "1.5e3". Fractions
/// of a nanosecond are rounded to the nearest. Empty if the text is not a JSON number or the value exceeds 64 bits.
std::optional<std::int64_t> nanoseconds(std::string_view microseconds);

/// The value of a JSON number that is an integer: "12", "12.0", "1.2e1".
std::optional<std::int64_t> integer(std::string_view number);

} // namespace profiler::formats::json
