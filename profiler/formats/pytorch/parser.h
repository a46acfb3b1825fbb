#pragma once

#include "profiler/formats/pytorch/event.h"
#include "profiler/formats/pytorch/texts.h"

#include <cstdint>
#include <memory>

namespace profiler::formats::json {

/// Receives the events that a scanner finds, in file order.
class EventTaker {
public:
    virtual ~EventTaker() = default;
    virtual void take(const Event& event) = 0;
};

/// The reason why a scanner stopped.
enum class Stop : std::uint8_t {
    NeedsMore, ///< the window ends inside an event or between two events
    AtLimit,   ///< the next event starts at or after the limit
    ArrayEnd,  ///< the array of events is closed
    Malformed, ///< an event has a JSON syntax error
    NoObject,  ///< the next element is not an object
    TooDeep,   ///< an event is nested too deeply
};

/// A part of the file in memory. `end` is followed by kWindowPadding zero bytes.
struct Window {
    const char* cursor = nullptr; ///< in: where to continue: before an event or the comma before it
    const char* end = nullptr;
    const char* limit = nullptr;   ///< events that start here or later belong to another scanner
    const char* problem = nullptr; ///< out: the position of the syntax error
};
inline constexpr std::size_t kWindowPadding = 128;

/// Scans the events of a window and checks every byte of them. The parser learns the layout of the file: known text
/// between two values is compared instead of parsed. Not thread-safe; each thread has its own instance.
class Parser {
public:
    virtual ~Parser() = default;
    /// Passes every complete event before the stop to `taker` and sets `cursor`. NeedsMore: before the incomplete
    /// event. AtLimit, Malformed, TooDeep: at the event's brace. NoObject: before the element. ArrayEnd: after the
    /// bracket.
    virtual Stop scan(Window& window, EventTaker& taker) = 0;
};

std::unique_ptr<Parser> makeParser(ArgTexts& texts);

} // namespace profiler::formats::json
