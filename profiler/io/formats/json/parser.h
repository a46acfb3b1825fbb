#pragma once

#include "profiler/io/formats/json/event.h"
#include "profiler/io/formats/json/texts.h"

#include <cstdint>
#include <memory>

namespace profiler::formats::json {

/// Takes the events that a scanner finds, in the order of the file.
class EventTaker {
public:
    virtual ~EventTaker() = default;
    virtual void take(const Event& event) = 0;
};

/// Why a scanner stopped.
enum class Stop : std::uint8_t {
    NeedsMore, ///< the window ends inside an event, or between two
    AtLimit,   ///< the next event begins at the limit or behind it
    ArrayEnd,  ///< the array of events is closed
    Malformed, ///< an event breaks JSON's grammar
    NoObject,  ///< what stands where an event should begin is none
    TooDeep,   ///< an event is nested too deeply to be read
};

/// A part of the file in memory. `end` is followed by kWindowPadding bytes that are zero.
struct Window {
    const char* cursor = nullptr; ///< in: where to go on, before an event or the comma before it
    const char* end = nullptr;
    const char* limit = nullptr;   ///< events that begin here or later are another's
    const char* problem = nullptr; ///< out: where the grammar was broken
};
inline constexpr std::size_t kWindowPadding = 128;

/// Scans the events of a window and checks every byte of them. It learns how the file's writer lays events out: what
/// lies between two values is then compared, not read. Not thread-safe; one a thread.
class Parser {
public:
    virtual ~Parser() = default;
    /// Gives `taker` every whole event up to the stop, and leaves `cursor`: NeedsMore: before the event that is not
    /// whole; AtLimit, Malformed, TooDeep: at the event's brace; NoObject: before what stands there; ArrayEnd: after
    /// the bracket.
    virtual Stop scan(Window& window, EventTaker& taker) = 0;
};

std::unique_ptr<Parser> makeParser(ArgTexts& texts);

} // namespace profiler::formats::json
