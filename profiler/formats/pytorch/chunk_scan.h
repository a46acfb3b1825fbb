#pragma once

#include "profiler/formats/pytorch/event_sink.h"
#include "profiler/formats/pytorch/text_window.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

namespace profiler::formats::json {

/// The result of scanning a part of the event array.
struct ScannedPart {
    enum class End : std::uint8_t { AtLimit, ArrayEnd, TextEnd, Stopped };
    std::uint64_t begin = 0; ///< where the scan started: an event's brace
    std::uint64_t end = 0;   ///< AtLimit: the next event's brace; ArrayEnd: after the bracket; TextEnd: end of text
    End how = End::TextEnd;
    std::optional<std::uint64_t> cutAt;    ///< TextEnd: the event that the end of the text cuts off
    std::optional<std::uint64_t> brokenAt; ///< TextEnd: the last event, which has a syntax error and no successor
    ScanResult result;
};

/// Scans parts of an event array. Each thread has its own instance.
class ChunkScan {
public:
    ChunkScan(ByteSource& source, SharedBuild& shared, const PassOptions& passOptions);

    /// Scans the events that start in [begin, limit).
    /// @param begin  an event's brace, or the position after the array's opening bracket
    ScannedPart scan(std::uint64_t begin, std::uint64_t limit, const std::stop_token& stop);
    /// Guesses the first position in [from, limit) that is the brace of an event; empty if nothing looks like one.
    /// @param sound  the event before it is intact
    std::optional<std::uint64_t> guessEvent(std::uint64_t from, std::uint64_t limit, bool sound,
                                            const std::stop_token& stop);

private:
    /// Reads on until enough of a malformed event is in memory, and moves the cursor to its first byte.
    void loadBrokenEvent(const char*& cursor);
    /// The position after a valid value that is not an object, if an array element may end there; otherwise null.
    const char* endOfNonObject(const char* cursor) const;
    /// Skips an event with a syntax error. False if no other event follows.
    bool recover(const char*& cursor, const std::stop_token& stop);
    /// Skips an event that is too long to hold in memory. False if the text ends inside it.
    bool passLongEvent(const char*& cursor, const std::stop_token& stop);

    TextWindow m_window;
    EventSink m_sink;
    std::unique_ptr<Parser> m_parser;
};

} // namespace profiler::formats::json
