#pragma once

#include "profiler/model/result.h"

#include <filesystem>
#include <string>

namespace profiler::wire {

/// The Error for a failed call on a file, with a hint for the user.
/// @param number  errno of the call
Error fileError(int number, Message what, const std::filesystem::path& path);

/// The message for `number`: "No space left on device".
std::string reasonOf(int number);

/// Overload for a message that says what was tried and ends with the reason: "cannot write the trace: {why}".
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Error fileError(int number, const std::filesystem::path& path)
{
    return fileError(number, message<Id, Text>({{"why", reasonOf(number)}}), path);
}

} // namespace profiler::wire
