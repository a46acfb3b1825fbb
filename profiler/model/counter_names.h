#pragma once

#include <string_view>

/// Words in the names of counters that tell what their values are.
namespace profiler::counter {

/// Ends the name of a counter that began at 0 with the recording: what was there before is not in it. PyTorch before
/// 1.10 records changes of memory alone.
inline constexpr std::string_view kSinceBegin = " since the recording began";

} // namespace profiler::counter
