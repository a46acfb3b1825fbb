#include "profiler/io/formats/json/top_level.h"

#include "profiler/io/formats/json/texts.h"

#include "profiler/io/formats/json/values.h"

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
            if (!m_window.readOn(cursor)) {
                m_problem =
                    m_window.atEnd() ? "The text ends too early, at byte " : "A value is longer than 64 MiB, at byte ";
                m_problem +=
                    std::to_string(m_window.offsetOf(m_window.atEnd() ? m_window.end() : m_window.begin())) + ".";
                return std::nullopt;
            }
            cursor = m_window.begin();
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
    const std::string key = unescaped({p + 1, static_cast<std::size_t>(quote - p - 1)});
    p = skipSpace(quote + 1);
    if (*p != ':')
        return failed(p);
    p = skipSpace(p + 1);
    if (key == "traceEvents" && *p == '[') {
        m_at = At::InObject;
        cursor = p + 1;
        return Outcome::Array;
    }
    const char* after = reader.any(p);
    if (!after)
        return failed(reader.problem);
    if (static_cast<std::size_t>(after - p) <= kLongestValue)
        values.insert_or_assign(key, std::string(p, after));
    m_at = At::InObject;
    cursor = after;
    return Outcome::Advanced;
}

} // namespace profiler::formats::json
