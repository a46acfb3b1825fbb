#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>

namespace profiler::formats::writers {

/// Appends a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD, so that any reader takes the file.
void appendJsonString(std::string& out, std::string_view text);

/// Appends ns as µs, exactly: "12.345", "-0.001", "7".
void appendMicroseconds(std::string& out, std::int64_t ns);

} // namespace profiler::formats::writers
