// The fast scanner: parses the events of a window of text, with every byte checked. The text between two values of an
// event (commas, line breaks, keys, braces) is a gap. The parser learns the gaps of a file and from then on compares
// each as a whole, so that only values are parsed.
#pragma once

#include "profiler/formats/pytorch/event_sink.h"
#include "profiler/formats/pytorch/json_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace profiler::formats::json {

enum class ValueKind : std::uint8_t {
    Skipped,
    Phase,
    Category,
    Name,
    Ident,
    Id2,
    Flag,
    Enclosing,
    Time,
    Integer,
    Array,
    Dimensions ///< three integers in an array
};

inline constexpr int kOutside = 0, kEventLevel = 1, kArgsLevel = 2;

/// A key of an event or of its args.
struct Key {
    std::string_view text;
    int level; ///< kEventLevel: key of the event itself; kArgsLevel: key in args
    ValueKind kind = ValueKind::Skipped;
    std::uint64_t field = 0;
    std::int64_t Event::*number = nullptr;
    Ident Event::*ident = nullptr;
    std::uint32_t Event::*array = nullptr;
    std::array<std::uint32_t, 3> Event::*dimensions = nullptr;
};

inline const std::vector<Key>& knownKeys()
{
    using K = ValueKind;
    using E = Event;
    static const std::vector<Key> keys = {
        {"", kOutside},    // where an event may start
        {"", kEventLevel}, // keys for which there is no more room
        {"", kArgsLevel},
        {"ph", 1, K::Phase, E::kPhase},
        {"cat", 1, K::Category, E::kCategory},
        {"name", 1, K::Name, E::kName},
        {"pid", 1, K::Ident, E::kPid, nullptr, &E::pid},
        {"tid", 1, K::Ident, E::kTid, nullptr, &E::tid},
        {"id", 1, K::Ident, E::kId, nullptr, &E::id},
        {"id2", 1, K::Id2, E::kId, nullptr, &E::id},
        {"scope", 1, K::Ident, E::kScope, nullptr, &E::scope},
        {"bind_id", 1, K::Ident, E::kBind, nullptr, &E::bind},
        {"flow_in", 1, K::Flag, E::kFlowIn},
        {"flow_out", 1, K::Flag, E::kFlowOut},
        {"bp", 1, K::Enclosing, E::kEnclosing},
        {"ts", 1, K::Time, E::kTime, &E::time},
        {"dur", 1, K::Time, E::kDuration, &E::duration},
        {"External id", 2, K::Integer, E::kExternal, &E::external},
        {"external id", 2, K::Integer, E::kExternal, &E::external},
        {"correlation", 2, K::Integer, E::kCorrelation, &E::correlation},
        {"Sequence number", 2, K::Integer, E::kSequence, &E::sequence},
        {"Fwd thread id", 2, K::Integer, E::kForwardThread, &E::forwardThread},
        {"bytes", 2, K::Integer, E::kBytes, &E::bytes},
        {"Bytes", 2, K::Integer, E::kBytes, &E::bytes},
        {"stream", 2, K::Integer, E::kStream, &E::stream},
        {"device", 2, K::Integer, E::kDevice, &E::device},
        {"Input Dims", 2, K::Array, E::kShapes, nullptr, nullptr, &E::shapes},
        {"Input dims", 2, K::Array, E::kShapes, nullptr, nullptr, &E::shapes},
        {"Input type", 2, K::Array, E::kTypes, nullptr, nullptr, &E::types},
        {"Total Allocated", 2, K::Integer, E::kAllocated, &E::allocated},
        {"Total Reserved", 2, K::Integer, E::kReserved, &E::reserved},
        {kIndexKey, 2, K::Integer, E::kIndex, &E::index},
        {"Device Type", 2, K::Integer, E::kDeviceType, &E::deviceType},
        {"Device Id", 2, K::Integer, E::kDeviceIndex, &E::deviceIndex},
        {"grid", 2, K::Dimensions, E::kGrid, nullptr, nullptr, nullptr, &E::grid},
        {"block", 2, K::Dimensions, E::kBlock, nullptr, nullptr, nullptr, &E::block},
        {"registers per thread", 2, K::Integer, E::kRegisters, &E::registers},
        {"shared memory", 2, K::Integer, E::kSharedMemory, &E::sharedMemory},
        {kDynamicSharedKey, 2, K::Integer, E::kDynamicShared, &E::dynamicShared},
        {kLocalMemoryKey, 2, K::Integer, E::kLocalMemory, &E::localMemory},
    };
    return keys;
}

/// What a gap contains. Positions are relative to its start.
struct Gap {
    enum class To : std::uint8_t { Value, EventEnd, ArrayEnd };
    static constexpr std::uint32_t kNowhere = ~0U;

    std::uint32_t length = 0;
    std::uint32_t brace = kNowhere;                          ///< the brace of the event that starts in the gap, if any
    std::uint32_t argsOpen = kNowhere, argsClose = kNowhere; ///< args' '{' and the end of its '}', if in the gap
    To to = To::Value;
    std::uint8_t key = 0; ///< To::Value: the node of the value
};

/// Crosses gaps. The keys of events are nodes; a gap that was parsed once is an edge of the node before it. Bytes that
/// were found valid after a node are valid wherever they follow that node.
class Gaps {
public:
    static constexpr std::uint8_t kStart = 0, kOtherKey = 1, kOtherArg = 2;

    Gaps() : m_keys(knownKeys()), m_nodes(m_keys.size()) {}

    [[nodiscard]] const Key& key(std::uint8_t node) const { return m_keys[node]; }

    /// @param p  the position after the value of `node`, or where an event may start
    /// @return valid until the next call; null on a syntax error
    const Gap* cross(std::uint8_t node, const char* p, Values& values)
    {
        const Block here(p);
        const Node& from = m_nodes[node];
        for (std::uint8_t i = 0; i < from.count; ++i) {
            const KnownGap& known = from.gaps[i];
            if ((~here.equal(Block(known.text)) & known.lowMask) != 0)
                continue;
            if (known.highMask != 0 && (~Block(p + 32).equal(Block(known.text + 32)) & known.highMask) != 0)
                continue;
            return &known.gap;
        }
        if (!read(node, p, values))
            return nullptr;
        learn(node, p);
        return &m_read;
    }

private:
    static constexpr std::size_t kLongest = 64, kMostKeys = 250;
    static constexpr std::uint8_t kMostGaps = 4;

    struct KnownGap {
        char text[kLongest] = {};
        std::uint32_t lowMask = 0, highMask = 0; ///< bits of the bytes that are compared
        Gap gap;
    };
    struct Node {
        KnownGap gaps[kMostGaps];
        std::uint8_t count = 0, oldest = 0;
    };

    const char* read(std::uint8_t node, const char* p, Values& values)
    {
        const char* const begin = p;
        const auto place = [&] { return static_cast<std::uint32_t>(p - begin); };
        int level = m_keys[node].level;
        m_read = {};
        bool opened = false; // the last byte opened an object
        const auto ends = [&](Gap::To to) {
            m_read.to = to;
            m_read.length = place();
            return p;
        };
        p = skipSpace(p);
        if (level == kOutside) {
            p = *p == ',' ? skipSpace(p + 1) : p;
            if (*p == ']') {
                ++p;
                return ends(Gap::To::ArrayEnd);
            }
            if (*p != '{')
                return values.fail(p);
            m_read.brace = place();
            level = kEventLevel;
            p = skipSpace(p + 1);
            opened = true;
        }
        for (;;) {
            if (*p == '}') {
                ++p;
                if (level == kEventLevel)
                    return ends(Gap::To::EventEnd);
                level = kEventLevel;
                m_read.argsClose = place();
                p = skipSpace(p);
                opened = false;
                continue;
            }
            if (!opened) {
                if (*p != ',')
                    return values.fail(p);
                p = skipSpace(p + 1);
            }
            std::string_view key;
            p = values.key(p, key);
            if (!p)
                return nullptr;
            opened = level == kEventLevel && key == "args" && *p == '{';
            if (!opened) {
                m_read.key = nodeOf(level, key);
                return ends(Gap::To::Value);
            }
            m_read.argsOpen = place();
            level = kArgsLevel;
            p = skipSpace(p + 1);
        }
    }

    std::uint8_t nodeOf(int level, std::string_view key)
    {
        for (std::size_t i = kOtherArg + 1; i < m_keys.size(); ++i)
            if (m_keys[i].level == level && m_keys[i].text == key)
                return static_cast<std::uint8_t>(i);
        // Not learned if args is null or a text: the same gap would also match before an object and hide its content.
        if (m_keys.size() == kMostKeys || key.size() > kLongest || (level == kEventLevel && key == "args"))
            return level == kEventLevel ? kOtherKey : kOtherArg;
        m_keys.push_back({.text = m_texts.emplace_back(key), .level = level});
        m_nodes.emplace_back();
        return static_cast<std::uint8_t>(m_keys.size() - 1);
    }

    /// Learns the gap that was read at `p`.
    void learn(std::uint8_t node, const char* p)
    {
        const auto other = [](std::uint8_t n) { return n == kOtherKey || n == kOtherArg; };
        const std::size_t length = m_read.length;
        if (length > kLongest || other(node) || (m_read.to == Gap::To::Value && other(m_read.key)))
            return;
        const auto mask = [](std::size_t bytes) { return bytes >= 32 ? ~0U : (1U << bytes) - 1; };
        Node& from = m_nodes[node];
        KnownGap& known = from.count < kMostGaps ? from.gaps[from.count++] : from.gaps[from.oldest++ % kMostGaps];
        known = {.lowMask = mask(length), .highMask = length > 32 ? mask(length - 32) : 0, .gap = m_read};
        std::memcpy(known.text, p, length);
    }

    std::vector<Key> m_keys;
    std::vector<Node> m_nodes;
    std::deque<std::string> m_texts; ///< keys found in the file
    Gap m_read;
};

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

/// Passes the events of a window to a sink. Not thread-safe; each thread has its own instance.
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
            const Gap* gap = m_gaps.cross(Gaps::kStart, p, m_values);
            if (!gap)
                return stopped(window, p, p);
            if (gap->to == Gap::To::ArrayEnd) {
                window.cursor = p + gap->length;
                return Stop::ArrayEnd;
            }
            event.begin = p + gap->brace;
            if (event.begin >= window.limit) {
                window.cursor = event.begin;
                return Stop::AtLimit;
            }
            m_values.odd = follows && *skipSpace(p) != ',' ? Event::kNoComma : 0U;
            const char* after = readEvent(p, *gap, event);
            if (!after)
                return stopped(window, p, event.begin);
            event.odd = m_values.odd;
            m_sink.take(event);
            p = after;
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

    /// @param first  the gap at `p` that contains the event's brace
    /// @return the position after the event; null on a syntax error
    [[gnu::always_inline]] const char* readEvent(const char* p, const Gap& first, Event& event)
    {
        const Gap* gap = &first;
        const char* args = gap->argsOpen == Gap::kNowhere ? nullptr : p + gap->argsOpen;
        p += gap->length;
        while (gap->to == Gap::To::Value) {
            const std::uint8_t node = gap->key;
            p = value(m_gaps.key(node), p, event);
            gap = p ? m_gaps.cross(node, p, m_values) : nullptr;
            if (!gap)
                return nullptr;
            if (gap->argsOpen != Gap::kNowhere)
                args = p + gap->argsOpen;
            if (gap->argsClose != Gap::kNowhere && args) {
                event.args = {args, static_cast<std::size_t>(p + gap->argsClose - args)};
                event.present |= Event::kArgs;
            }
            p += gap->length;
        }
        return p;
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
