#include "advisor/runner/remote_frames.h"

#include <algorithm>
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
    return std::string_view("OESFDZ").find(type) != std::string_view::npos;
}

tl::unexpected<Error> noFrames()
{
    return profiler::fail<"remote.answer", "the answer of the other machine cannot be understood">(
        Error::Code::Malformed, {}, "check what its shell prints at login, and that both versions of Stepscope fit");
}

} // namespace

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
            return m_bytes.size() > kMostBanner ? Result<void>(noFrames()) : Result<void>{};
        m_bytes.erase(0, begin + kRemoteBegin.size());
        m_hasBegun = true;
    }
    std::size_t at = 0;
    while (m_bytes.size() - at >= kHeaderBytes) {
        std::uint32_t length = 0;
        for (std::size_t i = 0; i < sizeof length; ++i)
            length |= std::uint32_t{static_cast<unsigned char>(m_bytes[at + 1 + i])} << (8 * i);
        if (!isKnown(m_bytes[at]) || length > kMostFrameBytes)
            return noFrames();
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

std::string harmlessText(std::string_view text, std::size_t most)
{
    std::string result;
    for (const char c : text.substr(0, most))
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c == '\x7f' ? '?' : c;
    return result;
}

} // namespace advisor::runner
