// The text between two values of an event: commas, line breaks, keys, braces.
#pragma once

#include "profiler/formats/pytorch/own_keys.h"
#include "profiler/formats/pytorch/values.h"

#include <algorithm>
#include <array>
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

/// A key of an event or of its args.
struct Key {
    std::string_view text;
    int level; ///< 1: key of the event itself; 2: key in args
    ValueKind kind = ValueKind::Skipped;
    std::uint64_t field = 0;
    std::int64_t Event::*number = nullptr;
    Ident Event::*ident = nullptr;
    std::uint32_t Event::*array = nullptr;
    std::array<std::uint32_t, 3> Event::*dimensions = nullptr;
};

inline constexpr int kEventLevel = 1, kArgsLevel = 2;

inline const std::vector<Key>& knownKeys()
{
    using K = ValueKind;
    using E = Event;
    static const std::vector<Key> keys = {
        {"", 0},           // where an event may start
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

/// The result of crossing a gap.
struct Crossing {
    enum class To : std::uint8_t { Value, EventEnd, ArrayEnd };
    const char* after = nullptr;
    const char* brace = nullptr;                          ///< the brace of the event that starts in the gap, if any
    const char *argsOpen = nullptr, *argsClose = nullptr; ///< args' '{' and the end of its '}', if in the gap
    To to = To::Value;
    std::uint8_t key = 0; ///< To::Value: the node of the value
};

/// Crosses gaps. The keys of events are nodes. A gap that was parsed once is learned as an edge; from then on it is
/// compared as a whole. Bytes that were found valid after a node are valid wherever they follow that node.
class Gaps {
public:
    static constexpr std::uint8_t kStart = 0, kOtherKey = 1, kOtherArg = 2;

    Gaps() : m_keys(knownKeys()), m_nodes(m_keys.size()), m_texts(m_keys.size()) {}

    [[nodiscard]] const Key& key(std::uint8_t node) const { return m_keys[node]; }

    /// @param p  the position after the value of `node`, or where an event may start
    bool cross(std::uint8_t node, const char* p, Values& values, Crossing& crossing)
    {
        const Block here(p);
        const Node& from = m_nodes[node];
        for (std::uint8_t i = 0; i < from.count; ++i) {
            const Gap& gap = from.gaps[i];
            if ((~here.equal(Block(gap.text)) & gap.lowMask) != 0)
                continue;
            if (gap.highMask != 0 && (~Block(p + 32).equal(Block(gap.text + 32)) & gap.highMask) != 0)
                continue;
            crossing.after = p + gap.length;
            crossing.to = gap.to;
            crossing.key = gap.key;
            crossing.brace = p + gap.brace;
            crossing.argsOpen = gap.argsOpen == kNowhere ? nullptr : p + gap.argsOpen;
            crossing.argsClose = gap.argsClose == kNowhere ? nullptr : p + gap.argsClose;
            return true;
        }
        return read(node, p, values, crossing);
    }

private:
    static constexpr std::size_t kLongest = 64, kMostKeys = 250;
    static constexpr std::uint8_t kMostGaps = 4, kNowhere = 255;

    struct Gap {
        char text[kLongest] = {};
        std::uint32_t lowMask = 0, highMask = 0; ///< bits of the bytes that are compared
        std::uint8_t length = 0, key = 0, brace = 0, argsOpen = kNowhere, argsClose = kNowhere;
        Crossing::To to = Crossing::To::Value;
    };
    struct Node {
        Gap gaps[kMostGaps];
        std::uint8_t count = 0, oldest = 0;
    };

    bool read(std::uint8_t node, const char* p, Values& values, Crossing& crossing);
    const char* readKey(const char* p, Values& values, std::string_view& key);
    std::uint8_t nodeOf(int level, std::string_view key);
    void learn(std::uint8_t node, const char* p, const Crossing& crossing);

    std::vector<Key> m_keys;
    std::vector<Node> m_nodes;
    std::vector<std::string> m_texts; ///< key texts found in the file
};

inline const char* Gaps::readKey(const char* p, Values& values, std::string_view& key)
{
    bool plain = true;
    const char* quote = *p == '"' ? values.closingQuote(p + 1, plain) : nullptr;
    if (!quote) {
        values.problem = *p == '"' ? values.problem : p;
        return nullptr;
    }
    key = {p + 1, static_cast<std::size_t>(quote - p - 1)};
    p = skipSpace(quote + 1);
    if (*p != ':') {
        values.problem = p;
        return nullptr;
    }
    return skipSpace(p + 1);
}

inline bool Gaps::read(std::uint8_t node, const char* p, Values& values, Crossing& crossing)
{
    const char* begin = p;
    int level = m_keys[node].level;
    crossing = {};
    bool wantsKey = false;
    const auto fail = [&](const char* where) {
        values.problem = where;
        return false;
    };
    p = skipSpace(p);
    if (level == 0) {
        const bool comma = *p == ',';
        p = comma ? skipSpace(p + 1) : p;
        if (*p == ']') {
            crossing.after = p + 1;
            crossing.to = Crossing::To::ArrayEnd;
            return true;
        }
        if (*p != '{')
            return fail(p);
        crossing.brace = p;
        level = kEventLevel;
        p = skipSpace(p + 1);
        wantsKey = *p != '}';
    }
    for (;;) {
        if (!wantsKey && *p == '}') {
            ++p;
            if (level == kEventLevel) {
                crossing.to = Crossing::To::EventEnd;
                break;
            }
            level = kEventLevel;
            crossing.argsClose = p;
            p = skipSpace(p);
            continue;
        }
        if (!wantsKey) {
            if (*p != ',')
                return fail(p);
            p = skipSpace(p + 1);
        }
        std::string_view key;
        p = readKey(p, values, key);
        if (!p)
            return false;
        wantsKey = false;
        if (level == kEventLevel && key == "args" && *p == '{') {
            crossing.argsOpen = p;
            level = kArgsLevel;
            p = skipSpace(p + 1);
            wantsKey = *p != '}';
            continue;
        }
        crossing.key = nodeOf(level, key);
        break;
    }
    crossing.after = p;
    learn(node, begin, crossing);
    return true;
}

inline std::uint8_t Gaps::nodeOf(int level, std::string_view key)
{
    for (std::size_t i = kOtherArg + 1; i < m_keys.size(); ++i)
        if (m_keys[i].level == level && m_keys[i].text == key)
            return static_cast<std::uint8_t>(i);
    // Not learned if args is null or a text: the same gap would also match before an object and hide its content.
    if (m_keys.size() == kMostKeys || key.size() > kLongest || (level == kEventLevel && key == "args"))
        return level == kEventLevel ? kOtherKey : kOtherArg;
    m_texts.emplace_back(key);
    m_texts.back().shrink_to_fit();
    m_keys.push_back({.text = {}, .level = level});
    m_nodes.emplace_back();
    for (std::size_t i = knownKeys().size(); i < m_keys.size(); ++i)
        m_keys[i].text = m_texts[i]; // reassigned because short strings move with the vector
    return static_cast<std::uint8_t>(m_keys.size() - 1);
}

inline void Gaps::learn(std::uint8_t node, const char* p, const Crossing& crossing)
{
    const auto other = [](std::uint8_t n) { return n == kOtherKey || n == kOtherArg; };
    const auto length = static_cast<std::size_t>(crossing.after - p);
    if (length > kLongest || other(node) || (crossing.to == Crossing::To::Value && other(crossing.key)))
        return;
    Node& from = m_nodes[node];
    Gap& gap = from.count < kMostGaps ? from.gaps[from.count++] : from.gaps[from.oldest++ % kMostGaps];
    gap = {};
    std::memcpy(gap.text, p, length);
    const auto mask = [](std::size_t bytes) { return bytes >= 32 ? ~0U : (1U << bytes) - 1; };
    gap.lowMask = mask(length);
    gap.highMask = length > 32 ? mask(length - 32) : 0;
    gap.length = static_cast<std::uint8_t>(length);
    gap.key = crossing.key;
    gap.to = crossing.to;
    gap.brace = crossing.brace ? static_cast<std::uint8_t>(crossing.brace - p) : std::uint8_t{0};
    gap.argsOpen = crossing.argsOpen ? static_cast<std::uint8_t>(crossing.argsOpen - p) : kNowhere;
    gap.argsClose = crossing.argsClose ? static_cast<std::uint8_t>(crossing.argsClose - p) : kNowhere;
}

} // namespace profiler::formats::json
