#pragma once

#include <string_view>

namespace profiler::formats::json {

/// The longest text that is examined to recognise the start of an event.
inline constexpr std::size_t kGuessLook = 256;

/// True if the brace is followed by a key that events start with.
bool looksLikeEvent(std::string_view text);
/// True if the text before a brace can precede an event: a comma and, if `sound`, the brace of an intact event before
/// it.
bool followsEvent(std::string_view before, bool sound);

/// Finds the end of an event with a syntax error by its brackets. The next event, the array's bracket or nothing must
/// follow. Null if the brackets do not match or a text is not closed.
/// @param event  the event's brace
/// @param end    the end of the window, which is followed by zeros
const char* endOfBrokenEvent(const char* event, const char* end);

} // namespace profiler::formats::json
