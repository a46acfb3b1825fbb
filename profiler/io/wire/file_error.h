#pragma once

#include "profiler/model/result.h"

#include <filesystem>
#include <string_view>

namespace profiler::wire {

/// An Error for a failed call on a file, with what the user can do about it.
/// @param number  errno of the call
/// @param what    what was tried: "cannot write the trace"
Error fileError(int number, std::string_view what, const std::filesystem::path& path);

} // namespace profiler::wire
