#include "profiler/formats/pytorch/top_level.h"

#include "profiler/formats/pytorch/json_text.h"
#include "profiler/formats/pytorch/values.h"

#include <algorithm>
#include <utility>

namespace profiler::formats::json {

namespace {
constexpr std::size_t kLongestValue = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
} // namespace

std::optional<std::uint64_t> TopLevel::nextArray()
{
    m_window.moveTo(m_offset);
    m_window.readOn(m_window.begin());
    const char* cursor = m_window.begin();
    for (;;) {
        switch (step(cursor)) {
        case Outcome::Advanced:
            break;
        case Outcome::Array:
            m_anyArray = true;
            return m_window.offsetOf(cursor);
        case Outcome::Done:
            return std::nullopt;
        case Outcome::TooShort: {
            const bool more = m_window.readOn(cursor);
            cursor = m_window.begin();
            if (more)
                break;
            if (m_window.atEnd() || !passLongEntry(cursor))
                // An object that contains the events may be closed at the wrong place, so the whole text is searched.
                return searchOn(m_anyArray ? m_window.offsetOf(cursor) : 0,
                                message<"json.ends_early", "The file ends too early, at byte {byte}.">(
                                    {{"byte", m_window.offsetOf(m_window.end())}}),
                                message<"json.not_closed",
                                        "An object or array before the events is not closed. The data between it "
                                        "and the events was not read.">());
            break;
        }
        case Outcome::Wrong: {
            const MessageParameter place{"byte", m_window.offsetOf(m_wrong)};
            if (m_tooDeep)
                return searchOn(
                    m_window.offsetOf(cursor),
                    message<"json.too_deep", "The value at byte {byte} is nested deeper than 1,000,000 levels.">(
                        {place}),
                    message<"json.too_deep_ahead",
                            "The value at byte {byte}, before the events, is nested deeper than 1,000,000 levels. "
                            "The data between it and the events was not read.">({place}));
            return searchOn(
                m_window.offsetOf(cursor),
                message<"json.grammar", "There is a JSON syntax error at byte {byte}.">({place}),
                message<"json.grammar_ahead",
                        "There is a JSON syntax error at byte {byte}, before the events. The data between it and "
                        "the events was not read.">({place}));
        }
        case Outcome::Rest: {
            const MessageParameter place{"byte", m_window.offsetOf(m_wrong)};
            return searchOn(
                m_window.offsetOf(cursor),
                message<"json.rest", "The trace is followed by other data at byte {byte}, which was not read.">(
                    {place}),
                message<"json.rest_ahead",
                        "The outermost object ends before byte {byte}, before the events. The data between its end "
                        "and the events was not read.">({place}));
        }
        }
    }
}

std::optional<std::uint64_t> TopLevel::searchOn(std::uint64_t from, Message atEnd, Message before)
{
    if (m_anyArray && m_problem.empty()) {
        m_problem = std::move(atEnd);
        return std::nullopt;
    }
    const auto found = findEvents(from);
    if (m_problem.empty())
        m_problem = std::move(found ? before : atEnd);
    m_anyArray = m_anyArray || found.has_value();
    m_at = At::InObject;
    return found;
}

std::optional<std::uint64_t> TopLevel::findEvents(std::uint64_t from)
{
    constexpr std::string_view kKey = "\"traceEvents\"";
    constexpr std::ptrdiff_t kLook = 256; // number of bytes examined after the key
    m_window.moveTo(from);
    m_window.readOn(m_window.begin());
    const char* p = m_window.begin();
    for (;;) {
        const std::string_view rest(p, static_cast<std::size_t>(m_window.end() - p));
        const char* key = p + std::min(rest.find(kKey), rest.size());
        if (m_window.end() - key < kLook && !m_window.atEnd()) {
            m_window.readOn(m_window.end() - std::min(kLook, m_window.end() - p));
            p = m_window.begin();
            continue;
        }
        if (key == m_window.end())
            return std::nullopt;
        p = key + kKey.size();
        // Quotes inside a text are escaped, so the key cannot be part of a text. Outside of texts it need not be a key.
        const char* value = skipSpace(p);
        value = *value == ':' ? skipSpace(value + 1) : value;
        if (*value != '[')
            continue;
        const char* first = skipSpace(value + 1);
        if (*first == '{' || *first == ']' || first >= m_window.end())
            return m_window.offsetOf(value + 1);
    }
}

void TopLevel::resume(std::uint64_t offset)
{
    m_offset = offset;
}

TopLevel::Outcome TopLevel::step(const char*& cursor)
{
    const char* p = cursor;
    if (m_at == At::Begin && m_window.offsetOf(p) == 0 && std::string_view(p, 3) == kByteOrderMark)
        p += kByteOrderMark.size();
    p = skipSpace(p);
    if (p >= m_window.end() && !m_window.atEnd())
        return Outcome::TooShort;
    switch (m_at) {
    case At::Begin:
        if (*p == '[' || *p == '{') {
            m_at = *p == '[' ? At::InArray : At::ObjectBegin;
            cursor = p + 1;
            return *p == '[' ? Outcome::Array : Outcome::Advanced;
        }
        break;
    case At::ObjectBegin:
    case At::InObject:
        if (*p == '}') {
            m_at = At::End;
            cursor = p + 1;
            return Outcome::Advanced;
        }
        cursor = p;
        return entry(cursor);
    case At::InArray:
    case At::End:
        return finish(p);
    }
    m_wrong = p;
    return p >= m_window.end() ? Outcome::TooShort : Outcome::Wrong;
}

bool TopLevel::passLongEntry(const char*& cursor)
{
    entry(cursor); // parse the entry again: it ends inside the value, at its new position in the window
    if (!m_value)
        return false;
    noteLong(m_key, m_window.offsetOf(m_value));
    ValueEnd value;
    for (const char* p = m_value;;) {
        cursor = value.pass(p, m_window.end());
        if (cursor) {
            m_at = At::InObject;
            return true;
        }
        if (!m_window.readOn(m_window.end()))
            return false;
        p = m_window.begin();
    }
}

void TopLevel::noteLong(std::string_view key, std::uint64_t offset)
{
    constexpr std::size_t kMostNotes = 20;
    if (notes.size() < kMostNotes)
        notes.push_back(
            message<"json.long_value", "The value of \"{key}\" at byte {byte} is longer than 1 MiB and was not read.">(
                {{"key", key.substr(0, 64)}, {"byte", offset}}));
}

TopLevel::Outcome TopLevel::finish(const char* p)
{
    m_wrong = p;
    return p < m_window.end() ? Outcome::Rest : Outcome::Done;
}

TopLevel::Outcome TopLevel::entry(const char*& cursor)
{
    Values reader;
    reader.end = m_window.end();
    const auto failed = [&](const char* where) {
        m_wrong = where;
        m_tooDeep = reader.tooDeep;
        return where >= m_window.end() ? Outcome::TooShort : Outcome::Wrong;
    };
    const char* p = cursor;
    m_value = nullptr;
    if (m_at == At::InObject) {
        if (*p != ',')
            return failed(p);
        p = skipSpace(p + 1);
    }
    bool plain = true;
    if (*p != '"')
        return failed(p);
    const char* quote = reader.closingQuote(p + 1, plain);
    if (!quote)
        return failed(reader.problem);
    m_key = unescaped({p + 1, static_cast<std::size_t>(quote - p - 1)});
    p = skipSpace(quote + 1);
    if (*p != ':')
        return failed(p);
    p = skipSpace(p + 1);
    if (m_key == "traceEvents" && *p == '[') {
        m_at = At::InObject;
        cursor = p + 1;
        return Outcome::Array;
    }
    m_value = p;
    const char* after = reader.any(p);
    if (!after)
        return failed(reader.problem);
    if (static_cast<std::size_t>(after - p) <= kLongestValue)
        values.insert_or_assign(m_key, std::string(p, after));
    else
        noteLong(m_key, m_window.offsetOf(p));
    m_at = At::InObject;
    cursor = after;
    return Outcome::Advanced;
}

} // namespace profiler::formats::json
