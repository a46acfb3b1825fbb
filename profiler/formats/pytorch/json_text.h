#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// Appends a JSON string with quotes. Invalid UTF-8 becomes U+FFFD, so that any reader accepts the file.
void appendJsonString(std::string& out, std::string_view text);

/// Appends ns as exact µs: "12.345", "-0.001", "7".
void appendMicroseconds(std::string& out, std::int64_t ns);

} // namespace profiler::formats::writers
