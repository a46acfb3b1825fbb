#include "advisor/runner/remote_frames.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>

namespace advisor::runner {

using profiler::Error;
using profiler::Result;

namespace {

constexpr std::size_t kHeaderBytes = 5;
constexpr std::size_t kMostBanner = 1 << 16;
constexpr std::size_t kMostParts = 3, kMostNameBytes = 200;

bool isHarmlessPart(std::string_view part)
{
    return !part.empty() && part.front() != '.' && std::all_of(part.begin(), part.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("._-+@").find(c) != std::string_view::npos;
    });
}

bool isKnown(char type)
{
    return std::string_view("OESFDZPIJX").find(type) != std::string_view::npos;
}

} // namespace

tl::unexpected<Error> noRemoteFrame()
{
    return profiler::fail<"remote.answer", "the answer of the other machine is malformed">(
        Error::Code::Malformed, {},
        "check what its shell prints at login, and that both versions of Stepscope are the same");
}

std::string encodeFrame(RemoteFrame type, std::string_view payload)
{
    const auto length = static_cast<std::uint32_t>(payload.size());
    std::string frame(1, static_cast<char>(type));
    for (int shift = 0; shift < 32; shift += 8)
        frame += static_cast<char>(length >> shift & 0xFF);
    return frame.append(payload);
}

Result<void> RemoteFrames::add(std::string_view bytes, const Take& take)
{
    m_bytes.append(bytes);
    if (!m_hasBegun) {
        const std::size_t begin = m_bytes.find(kRemoteBegin);
        if (begin == std::string::npos)
            return m_bytes.size() > kMostBanner ? Result<void>(noRemoteFrame()) : Result<void>{};
        m_bytes.erase(0, begin + kRemoteBegin.size());
        m_hasBegun = true;
    }
    std::size_t at = 0;
    while (m_bytes.size() - at >= kHeaderBytes) {
        std::uint32_t length = 0;
        for (std::size_t i = 0; i < sizeof length; ++i)
            length |= std::uint32_t{static_cast<unsigned char>(m_bytes[at + 1 + i])} << (8 * i);
        if (!isKnown(m_bytes[at]) || length > kMostFrameBytes)
            return noRemoteFrame();
        if (m_bytes.size() - at - kHeaderBytes < length)
            break;
        const auto type = static_cast<RemoteFrame>(m_bytes[at]);
        if (auto taken = take(type, std::string_view(m_bytes).substr(at + kHeaderBytes, length)); !taken)
            return taken;
        at += kHeaderBytes + length;
    }
    m_bytes.erase(0, at);
    return {};
}

std::optional<RemoteFile> remoteFileOf(std::string_view payload)
{
    RemoteFile file;
    const auto [end, error] = std::from_chars(payload.data(), payload.data() + payload.size(), file.bytes);
    if (error != std::errc() || end == payload.data() + payload.size() || *end != ' ')
        return std::nullopt;
    const std::string_view name = payload.substr(static_cast<std::size_t>(end - payload.data()) + 1);
    if (name.empty() || name.size() > kMostNameBytes || name.back() == '/')
        return std::nullopt;
    std::size_t parts = 0;
    for (std::size_t from = 0; from <= name.size();) {
        const std::size_t slash = std::min(name.find('/', from), name.size());
        if (!isHarmlessPart(name.substr(from, slash - from)) || ++parts > kMostParts)
            return std::nullopt;
        from = slash + 1;
    }
    file.name = std::string(name);
    return file;
}

namespace {

/// The length of a character that begins with this byte; 0: none does.
std::size_t lengthOf(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xC2 && first < 0xE0)
        return 2;
    if (first >= 0xE0 && first < 0xF0)
        return 3;
    return first >= 0xF0 && first < 0xF5 ? 4 : 0;
}

/// @param character  lengthOf() its first byte bytes
/// @return 0xFFFFFFFF if it is not UTF-8
std::uint32_t codePointOf(std::string_view character)
{
    constexpr std::uint32_t kNone = 0xFFFFFFFF;
    constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
    const auto first = static_cast<unsigned char>(character.front());
    std::uint32_t point = character.size() == 1 ? first : first & (0x7FU >> character.size());
    for (const char c : character.substr(1)) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte & 0xC0) != 0x80)
            return kNone;
        point = point << 6 | (byte & 0x3FU);
    }
    const bool isSurrogate = point >= 0xD800 && point < 0xE000;
    return point < kLeast[character.size()] || point > 0x10FFFF || isSurrogate ? kNone : point;
}

bool isHarmless(std::uint32_t point)
{
    if (point < 0x20)
        return point == '\n' || point == '\t';
    const bool isControl = point >= 0x7F && point < 0xA0;
    const bool isDirection = (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
    return !isControl && !isDirection && point <= 0x10FFFF;
}

} // namespace

std::string HarmlessText::add(std::string_view bytes)
{
    m_rest.append(bytes);
    const std::string_view text = m_rest;
    std::string result;
    result.reserve(text.size());
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] == '\r') { // CSV ends lines with both
            if (at + 1 == text.size())
                break;
            result += text[at + 1] == '\n' ? '\r' : '?';
            ++at;
            continue;
        }
        const std::size_t length = lengthOf(static_cast<unsigned char>(text[at]));
        if (length > text.size() - at)
            break;
        const std::string_view character = text.substr(at, std::max<std::size_t>(length, 1));
        const std::uint32_t point = length == 0 ? 0xFFFFFFFF : codePointOf(character);
        const bool isWhole = point != 0xFFFFFFFF;
        if (isWhole && isHarmless(point))
            result += character;
        else
            result += '?';
        at += isWhole ? length : 1;
    }
    m_rest.erase(0, at);
    return result;
}

std::string HarmlessText::end()
{
    std::string result(m_rest.size(), '?');
    m_rest.clear();
    return result;
}

std::string harmlessText(std::string_view text, std::size_t most)
{
    HarmlessText filter;
    std::string result = filter.add(text.substr(0, most));
    return result += filter.end();
}

} // namespace advisor::runner
