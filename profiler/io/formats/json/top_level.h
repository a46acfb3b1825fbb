#pragma once

#include "profiler/io/formats/json/text_window.h"
#include "profiler/model/message.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::formats::json {

/// The outermost value of a trace: an object around the array of events, or that array alone.
class TopLevel {
public:
    explicit TopLevel(ByteSource& source) : m_window(source) {}

    /// Reads on to the next array of events. Returns the place behind its bracket; empty at the end of the text, or
    /// where problem() says what is wrong. Where the grammar is broken ahead of the events, they are looked for by
    /// their key.
    std::optional<std::uint64_t> nextArray();
    /// The array of events ended; `offset` is behind its bracket.
    void resume(std::uint64_t offset);

    /// Raw JSON of the other values by key; what is longer than 1 MiB is left out, and noted.
    std::map<std::string, std::string> values;
    /// A sentence on each value that was left out.
    std::vector<Message> notes;
    /// A sentence on what keeps the rest from being read; empty: nothing.
    [[nodiscard]] const Message& problem() const { return m_problem; }

private:
    enum class At : std::uint8_t { Begin, ObjectBegin, InObject, InArray, End };
    enum class Outcome : std::uint8_t { Advanced, Array, Done, TooShort, Wrong, Rest };

    Outcome step(const char*& cursor);
    Outcome entry(const char*& cursor);
    /// Goes on behind the value of an entry that is too long to hold. False: the text ends in it.
    bool passLongEntry(const char*& cursor);
    void noteLong(std::string_view key, std::uint64_t offset);
    Outcome finish(const char* p);
    /// What follows `from` cannot be read as it should: goes on with the events behind it, where none were found so
    /// far.
    /// @param atEnd   what is wrong if there are none
    /// @param before  what is wrong if there are
    std::optional<std::uint64_t> searchOn(std::uint64_t from, Message atEnd, Message before);
    /// The next key of events whose value is an array of objects: the place behind its bracket.
    std::optional<std::uint64_t> findEvents(std::uint64_t from);

    TextWindow m_window;
    At m_at = At::Begin;
    std::uint64_t m_offset = 0;    ///< what comes next
    const char* m_wrong = nullptr; ///< Outcome::Wrong, Rest: where
    bool m_tooDeep = false;        ///< what stands there is nested too deeply
    std::string m_key;             ///< of the entry that is being read
    const char* m_value = nullptr; ///< its value; null: not reached
    bool m_anyArray = false;       ///< one was found
    Message m_problem;
};

} // namespace profiler::formats::json
