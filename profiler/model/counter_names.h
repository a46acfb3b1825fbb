#pragma once

#include <string_view>

/// Suffixes in counter names that say what the values mean.
namespace profiler::counter {

/// Suffix of a counter that started at 0 when the recording began, so that earlier values are not included. PyTorch
/// before 1.10 records only changes of memory.
inline constexpr std::string_view kSinceBegin = " since the recording began";

} // namespace profiler::counter
