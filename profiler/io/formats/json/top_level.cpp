#include "profiler/io/formats/json/top_level.h"

#include "profiler/io/formats/json/texts.h"
#include "profiler/io/formats/json/value_end.h"
#include "profiler/io/formats/json/values.h"

#include <algorithm>

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
            return m_window.offsetOf(cursor);
        case Outcome::Done:
            return std::nullopt;
        case Outcome::TooShort:
            if (m_window.readOn(cursor)) {
                cursor = m_window.begin();
                break;
            }
            cursor = m_window.begin();
            if (m_window.atEnd() || !passLongEntry(cursor)) {
                m_problem =
                    "The text ends too early, at byte " + std::to_string(m_window.offsetOf(m_window.end())) + ".";
                return std::nullopt;
            }
            break;
        case Outcome::Wrong:
            m_problem = "JSON's grammar is broken at byte " + std::to_string(m_window.offsetOf(m_wrong)) + ".";
            return std::nullopt;
        }
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
    entry(cursor); // which ends inside the value once more, at the place that the window has now
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
        notes.push_back("The value of \"" + std::string(key.substr(0, 64)) + "\", at byte " + std::to_string(offset) +
                        ", is longer than 1 MiB and is left out.");
}

TopLevel::Outcome TopLevel::finish(const char* p)
{
    if (p < m_window.end())
        m_problem = "Something follows the end of the trace, at byte " + std::to_string(m_window.offsetOf(p)) +
                    "; it was not read.";
    return Outcome::Done;
}

TopLevel::Outcome TopLevel::entry(const char*& cursor)
{
    Values reader;
    reader.end = m_window.end();
    const auto failed = [&](const char* where) {
        m_wrong = where;
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
