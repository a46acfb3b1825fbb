// The events of a window, parsed with every byte checked.
#pragma once

#include "profiler/formats/pytorch/event_sink.h"
#include "profiler/formats/pytorch/gaps.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

namespace profiler::formats::json {

/// The reason why a scan stopped.
enum class Stop : std::uint8_t {
    NeedsMore, ///< the window ends inside an event or between two events
    AtLimit,   ///< the next event starts at or after the limit
    ArrayEnd,  ///< the array of events is closed
    Malformed, ///< an event has a JSON syntax error
    NoObject,  ///< the next element is not an object
    TooDeep,   ///< an event is nested too deeply
};

/// A part of the file in memory. `end` is followed by kPadding zero bytes.
struct Window {
    const char* cursor = nullptr; ///< in: where to continue: before an event or the comma before it
    const char* end = nullptr;
    const char* limit = nullptr; ///< events that start here or later belong to another scan
};

/// Passes the events of a window to a sink. The parser learns the layout of the file: known text between two values is
/// compared instead of parsed. Not thread-safe; each thread has its own instance.
class EventParser {
public:
    explicit EventParser(EventSink& sink) : m_sink(sink), m_arrays(kArrays) {}

    /// Passes on every complete event before the stop and sets `cursor`. NeedsMore: before the incomplete event.
    /// AtLimit, Malformed, TooDeep: at the event's brace. NoObject: before the element. ArrayEnd: after the bracket.
    Stop scan(Window& window)
    {
        m_values.end = window.end;
        m_values.tooDeep = false;
        const char* p = window.cursor;
        bool follows = false;
        Event event;
        for (;;) {
            event.clear();
            Crossing crossing;
            if (!m_gaps.cross(Gaps::kStart, p, m_values, crossing))
                return stopped(window, p, p);
            if (crossing.to == Crossing::To::ArrayEnd) {
                window.cursor = crossing.after;
                return Stop::ArrayEnd;
            }
            event.begin = crossing.brace;
            if (event.begin >= window.limit) {
                window.cursor = event.begin;
                return Stop::AtLimit;
            }
            m_values.odd = follows && *skipSpace(p) != ',' ? Event::kNoComma : 0U;
            if (!readEvent(event, crossing))
                return stopped(window, p, event.begin);
            event.odd = m_values.odd;
            m_sink.take(event);
            p = crossing.after;
            follows = true;
        }
    }

private:
    static constexpr std::size_t kArrays = 1024, kLongestArray = 4096,
                                 kCategoriesKept = 256; // few categories, so collisions are rare

    /// A complete array that was seen before, with its id.
    struct SeenArray {
        std::string text;
        std::uint32_t id = 0;
    };
    struct SeenCategory {
        char text[32] = {}; ///< including the quotes
        std::uint32_t mask = 0;
        std::uint8_t length = 0, index = 0;
    };

    Stop stopped(Window& window, const char* before, const char* brace)
    {
        const bool more = m_values.problem >= window.end;
        window.cursor = more ? before : brace;
        const char* first = skipSpace(brace);
        first = *first == ',' ? skipSpace(first + 1) : first;
        return more               ? Stop::NeedsMore
               : m_values.tooDeep ? Stop::TooDeep
               : *first != '{'    ? Stop::NoObject
                                  : Stop::Malformed;
    }

    [[gnu::always_inline]] bool readEvent(Event& event, Crossing& crossing)
    {
        const char* args = crossing.argsOpen;
        while (crossing.to == Crossing::To::Value) {
            const std::uint8_t node = crossing.key;
            const char* p = value(m_gaps.key(node), crossing.after, event);
            if (!p || !m_gaps.cross(node, p, m_values, crossing))
                return false;
            if (crossing.argsOpen)
                args = crossing.argsOpen;
            if (crossing.argsClose && args) {
                event.args = {args, static_cast<std::size_t>(crossing.argsClose - args)};
                event.present |= Event::kArgs;
            }
        }
        event.end = crossing.after;
        return true;
    }

    // Inlined into scan(), its only caller: without that, reading is 4 % slower.
    [[gnu::always_inline]] const char* value(const Key& key, const char* p, Event& event)
    {
        if (static_cast<unsigned char>(*p) <= ' ')
            p = skipSpace(p);
        bool known = false;
        switch (key.kind) {
        case ValueKind::Skipped:
            return m_values.any(p);
        case ValueKind::Phase:
            if (p[0] == '"' && p[1] > ' ' && p[1] != '\\' && p[1] != '"' && p[2] == '"') {
                event.phase = p[1];
                event.present |= key.field;
                return p + 3;
            }
            return m_values.any(p);
        case ValueKind::Category:
            return category(p, event);
        case ValueKind::Name:
            return name(p, event);
        case ValueKind::Ident:
            return ident(p, key, event);
        case ValueKind::Id2:
            return scopedId(p, key, event);
        case ValueKind::Flag:
            event.present |= *p == 't' ? key.field : 0U;
            return m_values.any(p);
        case ValueKind::Enclosing:
            event.present |= *p == '"' && p[1] == 'e' ? key.field : 0U;
            return m_values.any(p);
        case ValueKind::Time:
            p = m_values.time(p, event.*key.number, known);
            break;
        case ValueKind::Integer:
            p = m_values.integer(p, event.*key.number, known);
            break;
        case ValueKind::Array:
            if (*p == '[')
                return array(p, key, event);
            return m_values.any(p);
        case ValueKind::Dimensions:
            return dimensions(p, key, event);
        }
        if (known)
            event.present |= key.field;
        return p;
    }

    /// Other arrays than three integers are skipped.
    const char* dimensions(const char* p, const Key& key, Event& event)
    {
        const char* const after = m_values.any(p);
        if (!after || *p != '[')
            return after;
        const char* next = p + 1;
        for (std::size_t i = 0; i < 3; ++i) {
            next = skipSpace(next);
            const auto [end, error] = std::from_chars(next, after, (event.*key.dimensions)[i]);
            next = error == std::errc{} ? skipSpace(end) : after;
            if (next == after || *next++ != (i < 2 ? ',' : ']'))
                return after;
        }
        event.present |= key.field;
        return after;
    }

    const char* name(const char* p, Event& event)
    {
        if (*p != '"')
            return m_values.any(p);
        bool plain = true;
        const char* quote = m_values.closingQuote(p + 1, plain);
        if (!quote)
            return nullptr;
        event.name = {p + 1, static_cast<std::size_t>(quote - p - 1)};
        event.nameOdd = !plain;
        event.present |= Event::kName;
        return quote + 1;
    }

    const char* category(const char* p, Event& event)
    {
        if (*p != '"')
            return m_values.any(p);
        const Block here(p);
        SeenCategory& seen = m_categories[load64(p + 1) * 0x9E3779B97F4A7C15ULL >> 56];
        if (seen.length == 0 || (~here.equal(Block(seen.text)) & seen.mask) != 0) {
            const char* after = m_values.text(p);
            if (!after)
                return nullptr;
            event.categoryText = {p + 1, static_cast<std::size_t>(after - p - 2)};
            event.category = categoryIndex(event.categoryText);
            event.present |= Event::kCategory;
            if (after - p < 32) {
                std::memcpy(seen.text, p, static_cast<std::size_t>(after - p));
                seen.length = static_cast<std::uint8_t>(after - p);
                seen.mask = (1U << seen.length) - 1;
                seen.index = event.category;
            }
            return after;
        }
        event.category = seen.index;
        event.categoryText = {p + 1, seen.length - 2U};
        event.present |= Event::kCategory;
        return p + seen.length;
    }

    const char* ident(const char* p, const Key& key, Event& event)
    {
        Ident& ident = event.*key.ident;
        bool known = false;
        const std::uint32_t odd = m_values.odd;
        const char* after = m_values.integer(p, ident.number, known);
        if (!after)
            return nullptr;
        const bool quoted = *p == '"';
        if (known) {
            ident.text = {};
        } else if (quoted || isDigit(*p) || *p == '-') {
            // Numbers that do not fit in 64 bits, such as hashes, are identified by their digits.
            m_values.odd = odd;
            ident.text = {p + quoted, static_cast<std::size_t>(after - p) - 2 * quoted};
        } else {
            return after;
        }
        event.present |= key.field;
        return after;
    }

    /// {"local": "0x1f"}: an id that is local to the process; {"global": "0x1f"}: an id for the whole file.
    const char* scopedId(const char* p, const Key& key, Event& event)
    {
        const char* after = m_values.any(p);
        if (!after || *p != '{')
            return after;
        const std::string_view object(p, static_cast<std::size_t>(after - p));
        const auto colon = object.find(':');
        const auto first = colon == object.npos ? colon : object.find_first_not_of(" \t\r\n\":", colon);
        if (first == object.npos)
            return after;
        (event.*key.ident).text = object.substr(first, object.find_first_of(" \t\r\n\",}", first) - first);
        event.present |= key.field | (object.find("\"local\"") < colon ? std::uint64_t{Event::kLocalId} : 0U);
        return after;
    }

    const char* array(const char* p, const Key& key, Event& event)
    {
        std::uint64_t hash = load64(p) ^ std::rotl(load64(p + 8) * 0x9E3779B97F4A7C15ULL, 29);
        hash = (hash ^ load64(p + 16)) * 0xFF51AFD7ED558CCDULL;
        hash = (hash ^ load64(p + 24) ^ hash >> 31) * 0xC4CEB9FE1A85EC53ULL;
        SeenArray& seen = m_arrays[hash >> 54];
        const auto room = static_cast<std::size_t>(m_values.end > p ? m_values.end - p : 0);
        if (seen.text.empty() || seen.text.size() > room || std::memcmp(seen.text.data(), p, seen.text.size()) != 0) {
            const char* after = m_values.any(p);
            if (!after)
                return nullptr;
            const auto length = static_cast<std::size_t>(after - p);
            event.*key.array = m_sink.intern({p, length});
            event.present |= key.field;
            if (length <= kLongestArray) {
                seen.text.assign(p, length);
                seen.id = event.*key.array;
            }
            return after;
        }
        event.*key.array = seen.id;
        event.present |= key.field;
        return p + seen.text.size();
    }

    EventSink& m_sink;
    Values m_values;
    Gaps m_gaps;
    std::vector<SeenArray> m_arrays;
    SeenCategory m_categories[kCategoriesKept];
};

} // namespace profiler::formats::json
