#include "profiler/formats/pytorch/pickle.h"

#include <algorithm>
#include <limits>

namespace profiler::formats::pickle {

namespace {

// Source: CPython, Lib/pickle.py and Lib/pickletools.py.
enum Opcode : unsigned char {
    kMark = '(',
    kStop = '.',
    kPop = '0',
    kPopMark = '1',
    kDup = '2',
    kBinFloat = 'G',
    kBinInt = 'J',
    kBinInt1 = 'K',
    kBinInt2 = 'M',
    kNone = 'N',
    kBinString = 'T',
    kShortBinString = 'U',
    kBinUnicode = 'X',
    kAppend = 'a',
    kGlobal = 'c',
    kDict = 'd',
    kEmptyDict = '}',
    kAppends = 'e',
    kBinGet = 'h',
    kLongBinGet = 'j',
    kList = 'l',
    kEmptyList = ']',
    kBinPut = 'q',
    kLongBinPut = 'r',
    kSetItem = 's',
    kTuple = 't',
    kEmptyTuple = ')',
    kSetItems = 'u',
    kBinBytes = 'B',
    kShortBinBytes = 'C',
    kProto = 0x80,
    kTuple1 = 0x85,
    kTuple2 = 0x86,
    kTuple3 = 0x87,
    kNewTrue = 0x88,
    kNewFalse = 0x89,
    kLong1 = 0x8a,
    kLong4 = 0x8b,
    kShortBinUnicode = 0x8c,
    kBinUnicode8 = 0x8d,
    kBinBytes8 = 0x8e,
    kStackGlobal = 0x93,
    kMemoize = 0x94,
    kFrame = 0x95,
    kByteArray8 = 0x96,
};

/// Names of opcodes that run code or build objects; their numbers mean nothing to users.
std::string_view nameOf(unsigned char opcode)
{
    constexpr std::pair<unsigned char, std::string_view> kNames[] = {
        {'R', "REDUCE"},    {'b', "BUILD"},      {'i', "INST"},         {'o', "OBJ"},
        {'P', "PERSID"},    {'Q', "BINPERSID"},  {0x81, "NEWOBJ"},      {0x92, "NEWOBJ_EX"},
        {0x82, "EXT1"},     {0x83, "EXT2"},      {0x84, "EXT4"},        {0x8f, "EMPTY_SET"},
        {0x90, "ADDITEMS"}, {0x91, "FROZENSET"}, {0x97, "NEXT_BUFFER"}, {0x98, "READONLY_BUFFER"}};
    for (const auto& [code, name] : kNames)
        if (code == opcode)
            return name;
    return {};
}

constexpr std::size_t kMostValues = std::size_t{1} << 25; // about a gigabyte

std::string printable(std::string_view text)
{
    constexpr std::size_t kLongest = 80;
    std::string shown(text.substr(0, kLongest));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return shown;
}

} // namespace

std::optional<std::int64_t> Document::integer(Ref value) const
{
    const Value& found = m_values[value.index];
    const bool isNumber = found.kind == Kind::Integer || found.kind == Kind::Bool;
    return isNumber ? std::optional{static_cast<std::int64_t>(found.payload)} : std::nullopt;
}

std::string_view Document::text(Ref value) const
{
    const Value& found = m_values[value.index];
    return found.kind == Kind::Text ? m_bytes.substr(found.payload, found.size) : std::string_view();
}

std::span<const Ref> Document::elements(Ref value) const
{
    const Value& found = m_values[value.index];
    if (found.kind != Kind::List && found.kind != Kind::Dict)
        return {};
    return m_containers[found.payload];
}

std::optional<Ref> Document::find(Ref dict, std::string_view key) const
{
    if (kind(dict) != Kind::Dict)
        return std::nullopt;
    const auto entries = elements(dict);
    for (std::size_t i = entries.size(); i >= 2; i -= 2)
        if (kind(entries[i - 2]) == Kind::Text && text(entries[i - 2]) == key)
            return entries[i - 1];
    return std::nullopt;
}

/// The stack machine of a pickle.
class Reader {
public:
    Reader(std::string_view bytes, const std::string& where) : m_where(where) { m_document.m_bytes = bytes; }

    Result<Document> read()
    {
        m_document.m_values = {{Kind::None, 0, 0}, {Kind::Bool, 0, 0}, {Kind::Bool, 0, 1}};
        while (!m_error && !m_stopped) {
            m_opcodeAt = m_at;
            const auto opcode = static_cast<unsigned char>(number(1));
            if (!m_error)
                run(opcode);
            if (std::max({m_document.m_values.size(), m_memo.size(), m_marks.size(), m_stack.size()}) > kMostValues)
                m_error = makeError<"pickle.too_large", "the pickle contains more than {limit} values">(
                    Error::Code::Unsupported, place(), "record a shorter history",
                    {{"limit", static_cast<std::int64_t>(kMostValues)}});
        }
        if (m_error)
            return tl::unexpected(std::move(*m_error));
        return std::move(m_document);
    }

private:
    using Kind = Document::Kind;

    [[nodiscard]] std::string place() const { return m_where + ", byte " + std::to_string(m_opcodeAt); }

    void damaged(std::string_view why)
    {
        if (!m_error)
            m_error = makeError<"pickle.damaged", "the pickle is damaged: {why}">(
                Error::Code::Malformed, place(), "copy the file again", {{"why", why}});
    }

    [[nodiscard]] std::size_t left() const { return m_document.m_bytes.size() - m_at; }

    /// A little-endian number of up to 8 bytes.
    std::uint64_t number(std::size_t size)
    {
        if (size > left()) {
            damaged("it ends too early");
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value |= std::uint64_t{static_cast<unsigned char>(m_document.m_bytes[m_at + i])} << 8 * i;
        m_at += size;
        return value;
    }

    void push(Ref value) { m_stack.push_back(value); }
    void push(Kind kind, std::uint64_t payload, std::uint32_t size = 0)
    {
        m_document.m_values.push_back({kind, size, payload});
        push(Ref{static_cast<std::uint32_t>(m_document.m_values.size() - 1)});
    }
    Ref pop()
    {
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() <= floor) {
            damaged("a value is missing");
            return {};
        }
        const Ref value = m_stack.back();
        m_stack.pop_back();
        return value;
    }
    /// The values above the last mark, and removes the mark.
    std::vector<Ref> popMark()
    {
        if (m_marks.empty()) {
            damaged("a mark is missing");
            return {};
        }
        const auto first = m_stack.begin() + static_cast<std::ptrdiff_t>(m_marks.back());
        std::vector<Ref> values(first, m_stack.end());
        m_stack.erase(first, m_stack.end());
        m_marks.pop_back();
        return values;
    }
    void pushContainer(Kind kind, std::vector<Ref> elements)
    {
        if (kind == Kind::Dict && elements.size() % 2 != 0)
            return damaged("a dictionary has a key without a value");
        m_document.m_containers.push_back(std::move(elements));
        push(kind, m_document.m_containers.size() - 1);
    }
    void pushTuple(std::size_t size)
    {
        std::vector<Ref> elements(size);
        for (std::size_t i = size; i > 0; --i)
            elements[i - 1] = pop();
        pushContainer(Kind::List, std::move(elements));
    }
    void extend(Kind kind, const std::vector<Ref>& added)
    {
        if (m_error)
            return;
        const std::size_t floor = m_marks.empty() ? 0 : m_marks.back();
        if (m_stack.size() <= floor || m_document.kind(m_stack.back()) != kind)
            return damaged("there is nothing to add elements to");
        if (kind == Kind::Dict && added.size() % 2 != 0)
            return damaged("a dictionary has a key without a value");
        auto& container = m_document.m_containers[m_document.m_values[m_stack.back().index].payload];
        container.insert(container.end(), added.begin(), added.end());
    }
    void pushText(std::uint64_t size)
    {
        if (m_error)
            return;
        if (size > left() || size > std::numeric_limits<std::uint32_t>::max())
            return damaged("a text is longer than the file");
        push(Kind::Text, m_at, static_cast<std::uint32_t>(size));
        m_at += size;
    }
    /// An integer of any length in two's complement.
    void pushLong(std::uint64_t size)
    {
        if (m_error)
            return;
        if (size > left())
            return damaged("a number is longer than the file");
        const std::size_t used = std::min<std::size_t>(size, sizeof(std::uint64_t));
        std::uint64_t value = number(used);
        const bool isNegative =
            size > 0 && (static_cast<unsigned char>(m_document.m_bytes[m_at - used + size - 1]) & 0x80) != 0;
        if (used < sizeof value && isNegative)
            value |= ~std::uint64_t{0} << 8 * used;
        m_at += size - used;
        push(Kind::Integer, value);
    }
    void put(std::uint64_t key)
    {
        if (m_error)
            return;
        if (m_stack.empty())
            return damaged("a value is missing");
        m_memo[key] = m_stack.back();
    }
    void get(std::uint64_t key)
    {
        if (m_error)
            return;
        const auto found = m_memo.find(key);
        if (found == m_memo.end())
            return damaged("it refers to a value that is not in it");
        push(found->second);
    }
    void refuse(const std::string& what)
    {
        if (!m_error)
            m_error = makeError<"pickle.code", "the pickle wants to load {what}, which could run code">(
                Error::Code::Unsupported, place(), "only plain dictionaries, lists, numbers and texts are read",
                {{"what", what}});
    }
    std::string line()
    {
        const std::size_t end = m_document.m_bytes.find('\n', m_at);
        if (end == std::string_view::npos) {
            damaged("it ends too early");
            return {};
        }
        const std::string text = printable(m_document.m_bytes.substr(m_at, end - m_at));
        m_at = end + 1;
        return text;
    }

    void run(unsigned char opcode)
    {
        switch (opcode) {
        case kProto:
            if (const std::uint64_t version = number(1); !m_error && (version < 2 || version > 5))
                damaged("its protocol is not 2 to 5");
            return;
        case kFrame:
            if (number(8) > left())
                damaged("a frame is longer than the file");
            return;
        case kStop:
            m_document.m_root = pop();
            m_stopped = true;
            return;
        case kMark:
            return m_marks.push_back(m_stack.size());
        case kPop:
            if (!m_marks.empty() && m_marks.back() == m_stack.size())
                m_marks.pop_back();
            else
                pop();
            return;
        case kPopMark:
            popMark();
            return;
        case kDup: {
            const Ref value = pop();
            push(value);
            return push(value);
        }
        case kNone:
            return push(Ref{0});
        case kNewFalse:
            return push(Ref{1});
        case kNewTrue:
            return push(Ref{2});
        case kBinInt:
            return push(Kind::Integer, static_cast<std::uint64_t>(static_cast<std::int32_t>(number(4))));
        case kBinInt1:
            return push(Kind::Integer, number(1));
        case kBinInt2:
            return push(Kind::Integer, number(2));
        case kLong1:
            return pushLong(number(1));
        case kLong4: {
            const std::uint64_t size = number(4);
            return (size >> 31) != 0 ? damaged("a number has a negative length") : pushLong(size);
        }
        case kBinFloat:
            return push(Kind::Real, __builtin_bswap64(number(8)));
        case kShortBinUnicode:
        case kShortBinString:
        case kShortBinBytes:
            return pushText(number(1));
        case kBinUnicode:
        case kBinString:
        case kBinBytes:
            return pushText(number(4));
        case kBinUnicode8:
        case kBinBytes8:
        case kByteArray8:
            return pushText(number(8));
        default:
            runContainer(opcode);
        }
    }

    void runContainer(unsigned char opcode)
    {
        switch (opcode) {
        case kEmptyList:
        case kEmptyTuple:
            return pushContainer(Kind::List, {});
        case kEmptyDict:
            return pushContainer(Kind::Dict, {});
        case kList:
        case kTuple:
            return pushContainer(Kind::List, popMark());
        case kDict:
            return pushContainer(Kind::Dict, popMark());
        case kTuple1:
            return pushTuple(1);
        case kTuple2:
            return pushTuple(2);
        case kTuple3:
            return pushTuple(3);
        case kAppend:
            return extend(Kind::List, {pop()});
        case kAppends:
            return extend(Kind::List, popMark());
        case kSetItem: {
            const Ref value = pop(), key = pop();
            return extend(Kind::Dict, {key, value});
        }
        case kSetItems:
            return extend(Kind::Dict, popMark());
        case kBinPut:
            return put(number(1));
        case kLongBinPut:
            return put(number(4));
        case kMemoize:
            return put(m_memo.size());
        case kBinGet:
            return get(number(1));
        case kLongBinGet:
            return get(number(4));
        case kGlobal: {
            const std::string module = line(), name = line();
            return refuse(module + '.' + name);
        }
        case kStackGlobal: {
            const Ref name = pop(), module = pop();
            return m_error ? void()
                           : refuse(printable(m_document.text(module)) + '.' + printable(m_document.text(name)));
        }
        default:
            if (const std::string_view name = nameOf(opcode); !name.empty())
                return refuse("an object (" + std::string(name) + ')');
            return damaged("it has the unknown opcode " + std::to_string(opcode));
        }
    }

    const std::string& m_where;
    Document m_document;
    std::size_t m_at = 0, m_opcodeAt = 0;
    std::vector<Ref> m_stack;
    std::vector<std::size_t> m_marks; ///< sizes of the stack
    std::unordered_map<std::uint64_t, Ref> m_memo;
    std::optional<Error> m_error;
    bool m_stopped = false;
};

Result<Document> read(std::string_view bytes, const std::string& where)
{
    return Reader(bytes, where).read();
}

bool isPickle(std::span<const std::byte> head)
{
    return head.size() >= 2 && head[0] == std::byte{kProto} && head[1] >= std::byte{2} && head[1] <= std::byte{5};
}

} // namespace profiler::formats::pickle
