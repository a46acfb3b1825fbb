#pragma once

#include "profiler/io/formats/json/event_sink.h"
#include "profiler/io/formats/json/text_window.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

namespace profiler::formats::json {

/// What scanning a part of the event array gave.
struct ScannedPart {
    enum class End : std::uint8_t { AtLimit, ArrayEnd, TextEnd, Stopped };
    std::uint64_t begin = 0; ///< where scanning began: an event's brace
    std::uint64_t end = 0;   ///< AtLimit: the next event's brace; ArrayEnd: behind the bracket; TextEnd: the text's end
    End how = End::TextEnd;
    std::optional<std::uint64_t> cutAt;    ///< TextEnd: the event that the text ends in
    std::optional<std::uint64_t> brokenAt; ///< TextEnd: the event that breaks the grammar, behind which none was found
    Harvest harvest;
};

/// Scans parts of an event array. One a thread.
class ChunkScan {
public:
    ChunkScan(ByteSource& source, SharedBuild& shared, const Manner& manner);

    /// Scans the events that begin in [begin, limit).
    /// @param begin  an event's brace, or the place behind the array's bracket
    ScannedPart scan(std::uint64_t begin, std::uint64_t limit, const std::stop_token& stop);
    /// The first place in [from, limit) that looks like the brace of an event. A guess, and none where nothing does.
    /// @param sound  it follows an event that is whole
    std::optional<std::uint64_t> guessEvent(std::uint64_t from, std::uint64_t limit, bool sound,
                                            const std::stop_token& stop);

private:
    /// Reads on until enough of a broken event is there, and goes to its first byte.
    void holdBroken(const char*& cursor);
    /// Behind a sound value that is no object, where an element may end; null: it is none.
    const char* behindNoObject(const char* cursor) const;
    /// Goes on behind an event that broke the grammar. False: there is no further event.
    bool recover(const char*& cursor, const std::stop_token& stop);
    /// Goes on behind an event that is too long to hold. False: the text ends in it.
    bool passLongEvent(const char*& cursor, const std::stop_token& stop);

    TextWindow m_window;
    EventSink m_sink;
    std::unique_ptr<Parser> m_parser;
};

} // namespace profiler::formats::json
