#pragma once

#include "profiler/model/result.h"

#include <filesystem>
#include <string>

namespace profiler::wire {

/// The Error of a failed call on a file, with what the user can do about it.
/// @param number  errno of the call
Error fileError(int number, Message what, const std::filesystem::path& path);

/// The text of `number`: "No space left on device".
std::string reasonOf(int number);

/// The same with a message whose text names what was tried and ends with the reason: "cannot write the trace: {why}".
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Error fileError(int number, const std::filesystem::path& path)
{
    return fileError(number, message<Id, Text>({{"why", reasonOf(number)}}), path);
}

} // namespace profiler::wire
