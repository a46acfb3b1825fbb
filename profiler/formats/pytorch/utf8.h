#pragma once

#include <cstddef>

namespace profiler::formats::json {

bool isUtf8(const char* text, std::size_t bytes);

} // namespace profiler::formats::json
