#pragma once

#include <string_view>

namespace profiler::formats::json {

/// The longest text that is looked at to tell an event's beginning.
inline constexpr std::size_t kGuessLook = 256;

/// A brace that is followed by a key which events begin with.
bool looksLikeEvent(std::string_view text);
/// What stands before a brace: a comma, behind another brace where the text is `sound`.
bool followsEvent(std::string_view before, bool sound);

/// Where an event that breaks JSON's grammar ends, as its brackets tell it: what follows is the next event, the array's
/// bracket or nothing. Null where the brackets do not tell it: they do not match, or a text is not closed.
/// @param event  its brace
/// @param end    of the window; it is followed by zeros
const char* behindBroken(const char* event, const char* end);

} // namespace profiler::formats::json
