#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace profiler::formats::json {

/// A process, thread or flow as an event names it: a number (possibly in quotes) or a text.
struct Ident {
    std::int64_t number = 0;
    std::string_view text; ///< raw JSON text without quotes; null data if it is a number
};

/// The content of an event of the traceEvents array. A field is valid only if its bit of `present` is set. Texts point
/// into the scanner's window and are valid until the next event.
struct Event {
    enum Field : std::uint64_t {
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
        kLocalId = 1U << 27,   ///< the id is local to the process
        kEnclosing = 1U << 28, ///< a flow end that binds to the enclosing slice ("bp": "e")
        kGrid = 1U << 29,
        kBlock = 1U << 30,
        kRegisters = 1U << 31,
        kSharedMemory = std::uint64_t{1} << 32,
        kDynamicShared = std::uint64_t{1} << 33,
        kLocalMemory = std::uint64_t{1} << 34,
    };
    /// Defects that do not prevent an event from being read; one bit each.
    enum Oddity : std::uint32_t {
        kNotANumber = 1U << 0,  ///< NaN or Infinity, which are not valid JSON
        kControlText = 1U << 1, ///< an unescaped control character in a text
        kBadEscape = 1U << 2,   ///< a backslash before a character that needs none
        kBadUtf8 = 1U << 3,
        kBadTime = 1U << 4,   ///< a time that is not a number
        kHugeTime = 1U << 5,  ///< a time beyond ±73 years
        kBadNumber = 1U << 6, ///< not a 64-bit integer although one is expected
        kNoComma = 1U << 7,   ///< no comma between this event and the previous one
    };

    std::uint64_t present = 0;
    std::uint32_t odd = 0;
    const char* begin = nullptr; ///< its '{'
    const char* end = nullptr;   ///< after its '}'
    char phase = 0;
    std::uint8_t category = 0;                 ///< index of a known category, see category.h
    bool nameOdd = false;                      ///< the name contains escapes or non-ASCII bytes
    std::int64_t time = 0, duration = 0;       ///< ns
    std::string_view name, categoryText, args; ///< raw; args with its braces
    Ident pid, tid, id, bind, scope;           ///< scope: of the id; bind: the flow that passes through the slice
    std::int64_t correlation = 0, external = 0, sequence = 0, forwardThread = 0, bytes = 0, stream = 0, device = 0;
    std::int64_t allocated = 0, reserved = 0, deviceType = 0, deviceIndex = 0, index = 0;
    std::uint32_t shapes = 0, types = 0; ///< StringIds
    std::array<std::uint32_t, 3> grid{}, block{};
    std::int64_t registers = 0, sharedMemory = 0, dynamicShared = 0, localMemory = 0;

    /// Resets the event. Fields that are guarded only by their bit of `present` keep their values: most fields of an
    /// event are unused, and zeroing all of them takes as long as reading an event.
    void clear()
    {
        present = 0;
        odd = 0;
        begin = end = nullptr;
        phase = 0;
        category = 0;
        nameOdd = false;
        time = duration = 0;
        categoryText = {};
        pid = tid = id = bind = {};
        deviceType = deviceIndex = 0;
    }
    [[nodiscard]] bool has(std::uint64_t fields) const { return (present & fields) == fields; }
};

} // namespace profiler::formats::json
