// Texts and numbers of JSON, as they are read and written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace profiler::formats::json {

bool isUtf8(std::string_view text);

/// The text of a raw JSON string, without quotes: escapes are resolved, invalid UTF-8 is replaced by U+FFFD.
std::string unescaped(std::string_view raw);

/// A scalar as readable text: strings without quotes and escapes. Arrays and objects are returned as JSON.
std::string plainValue(std::string_view json);

/// A readable array, without quotes and line breaks, with one space after each comma: "[[64, 3], [], Scalar]".
std::string plainArray(std::string_view json);

/// Converts a decimal number of microseconds to nanoseconds exactly: "1712195495406752.797", "-3", "1.5e3". Fractions
/// of a nanosecond are rounded to the nearest. Empty if the text is not a JSON number or the value exceeds 64 bits.
std::optional<std::int64_t> nanoseconds(std::string_view microseconds);

/// The value of a JSON number that is an integer: "12", "12.0", "1.2e1".
std::optional<std::int64_t> integer(std::string_view number);

/// True for a complete number in JSON's notation, of any size.
bool isNumber(std::string_view text);

} // namespace profiler::formats::json

namespace profiler::formats::writers {

/// Appends a JSON string with quotes. Invalid UTF-8 becomes U+FFFD, so that any reader accepts the file.
void appendJsonString(std::string& out, std::string_view text);

/// Appends ns as exact µs: "12.345", "-0.001", "7".
void appendMicroseconds(std::string& out, std::int64_t ns);

} // namespace profiler::formats::writers
