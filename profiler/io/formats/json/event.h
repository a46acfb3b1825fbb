#pragma once

#include <cstdint>
#include <string_view>

namespace profiler::formats::json {

/// A process, thread or flow as an event names it: a number (also one in quotes), or a text.
struct Ident {
    std::int64_t number = 0;
    std::string_view text; ///< raw JSON text without its quotes; no data where it is a number
};

/// What an event of the traceEvents array holds. A field counts only where its bit of `present` is set; texts point
/// into the scanner's window and live until the next event.
struct Event {
    enum Field : std::uint32_t {
        kPhase = 1U << 0,
        kCategory = 1U << 1,
        kName = 1U << 2,
        kPid = 1U << 3,
        kTid = 1U << 4,
        kTime = 1U << 5,
        kDuration = 1U << 6,
        kArgs = 1U << 7,
        kId = 1U << 8,
        kCorrelation = 1U << 9,
        kExternal = 1U << 10,
        kSequence = 1U << 11,
        kForwardThread = 1U << 12,
        kBytes = 1U << 13,
        kStream = 1U << 14,
        kDevice = 1U << 15,
        kShapes = 1U << 16,
        kTypes = 1U << 17,
        kAllocated = 1U << 18,
        kReserved = 1U << 19,
        kDeviceType = 1U << 20,
        kDeviceIndex = 1U << 21,
        kScope = 1U << 22,
        kIndex = 1U << 23,
        kBind = 1U << 24,
        kFlowIn = 1U << 25,
        kFlowOut = 1U << 26,
        kLocalId = 1U << 27,   ///< the id is one of the process
        kEnclosing = 1U << 28, ///< a flow's end that binds to the slice around it ("bp": "e")
    };
    /// Oddities that do not keep an event from being read; one bit each.
    enum Oddity : std::uint32_t {
        kNotANumber = 1U << 0,  ///< NaN or Infinity, which JSON does not know
        kControlText = 1U << 1, ///< a control character inside a text
        kBadEscape = 1U << 2,   ///< a backslash before a character that needs none
        kBadUtf8 = 1U << 3,
        kBadTime = 1U << 4,   ///< a time that is no number
        kHugeTime = 1U << 5,  ///< a time beyond ±73 years
        kBadNumber = 1U << 6, ///< a number that is no 64-bit integer where one is expected
        kNoComma = 1U << 7,   ///< no comma between this event and the one before
    };

    std::uint32_t present = 0;
    std::uint32_t odd = 0;
    const char* begin = nullptr; ///< its '{'
    const char* end = nullptr;   ///< after its '}'
    char phase = 0;
    std::uint8_t category = 0;                 ///< index of a known category, see category.h
    bool nameOdd = false;                      ///< the name holds escapes or what is not ASCII
    std::int64_t time = 0, duration = 0;       ///< ns
    std::string_view name, categoryText, args; ///< raw; args with its braces
    Ident pid, tid, id, bind, scope;           ///< scope: of the id; bind: the flow that the slice itself is a point of
    std::int64_t correlation = 0, external = 0, sequence = 0, forwardThread = 0, bytes = 0, stream = 0, device = 0;
    std::int64_t allocated = 0, reserved = 0, deviceType = 0, deviceIndex = 0, index = 0;
    std::uint32_t shapes = 0, types = 0; ///< StringIds

    /// Forgets the event before, but for what counts with its bit of `present` alone: of an event most fields are
    /// unused, and to zero them all takes as long as to read one.
    void clear()
    {
        present = odd = 0;
        begin = end = nullptr;
        phase = 0;
        category = 0;
        nameOdd = false;
        time = duration = 0;
        categoryText = {};
        pid = tid = id = bind = {};
        deviceType = deviceIndex = 0;
    }
    [[nodiscard]] bool has(std::uint32_t fields) const { return (present & fields) == fields; }
};

} // namespace profiler::formats::json
