#pragma once

#include "profiler/formats/pytorch/byte_source.h"
#include "profiler/model/message.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::json {

/// The outermost value of a trace: an object around the event array, or the array alone.
class TopLevel {
public:
    explicit TopLevel(ByteSource& source) : m_window(source) {}

    /// Reads on to the next event array and returns the position after its bracket. Empty at the end of the text or
    /// after an error, which problem() describes. If there is a syntax error before the events, they are searched for
    /// by their key.
    std::optional<std::uint64_t> nextArray();
    /// Called at the end of the event array; `offset` is after its bracket.
    void resume(std::uint64_t offset);

    /// Raw JSON of the other values by key. Values longer than 1 MiB are omitted, with a note.
    std::map<std::string, std::string> values;
    /// A sentence about each omitted value.
    std::vector<Message> notes;
    /// A sentence about what prevents the rest from being read; empty if there is no problem.
    [[nodiscard]] const Message& problem() const { return m_problem; }

private:
    enum class At : std::uint8_t { Begin, ObjectBegin, InObject, InArray, End };
    enum class Outcome : std::uint8_t { Advanced, Array, Done, TooShort, Wrong, Rest };

    Outcome step(const char*& cursor);
    Outcome entry(const char*& cursor);
    /// Skips the value of an entry that is too long to hold in memory. False if the text ends inside it.
    bool passLongEntry(const char*& cursor);
    void noteLong(std::string_view key, std::uint64_t offset);
    Outcome finish(const char* p);
    /// The text after `from` cannot be parsed. Continues with the events after it if none were found so far.
    /// @param atEnd   the problem if there are no more events
    /// @param before  the problem if events follow
    std::optional<std::uint64_t> searchOn(std::uint64_t from, Message atEnd, Message before);
    /// Finds the next key of events whose value is an array of objects; returns the position after its bracket.
    std::optional<std::uint64_t> findEvents(std::uint64_t from);

    TextWindow m_window;
    At m_at = At::Begin;
    std::uint64_t m_offset = 0;    ///< the next byte to parse
    const char* m_wrong = nullptr; ///< Outcome::Wrong, Rest: the position
    bool m_tooDeep = false;        ///< the value at that position is nested too deeply
    std::string m_key;             ///< key of the current entry
    const char* m_value = nullptr; ///< value of the current entry; null: not yet reached
    bool m_anyArray = false;       ///< an event array was found
    Message m_problem;
};

} // namespace profiler::formats::json
