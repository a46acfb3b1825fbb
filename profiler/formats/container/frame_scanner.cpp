#include "profiler/formats/container/frame_scanner.h"

#include "profiler/formats/container/frame.h"
#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <system_error>
#include <utility>

namespace profiler::wire {
namespace {

constexpr std::size_t kReadAhead = 1U << 20;
/// A search for the next frame may hash this many bytes plus four times the file size. In a forged file, every position
/// can look like the start of a frame.
constexpr std::uint64_t kMaxHashed = 64U << 20;

Error readError(int number, const std::filesystem::path& path)
{
    if (number == ENOENT || number == ENOTDIR)
        return makeError<"trace.missing", "the trace file does not exist">(Error::Code::NotFound, path.string(),
                                                                           "check the path");
    if (number == EACCES || number == EPERM)
        return makeError<"trace.no_permission", "no permission to read the trace file">(
            Error::Code::Permission, path.string(), "ask its owner for read permission");
    return makeError<"trace.unreadable", "cannot read the trace file: {why}">(
        Error::Code::Io, path.string(), {}, {{"why", std::generic_category().message(number)}});
}

} // namespace

InputFile::InputFile(os::Descriptor descriptor, std::filesystem::path path)
    : m_descriptor(std::move(descriptor)), m_path(std::move(path))
{
}

Result<InputFile> InputFile::open(const std::filesystem::path& path)
{
    os::Descriptor descriptor = os::openToRead(path);
    const auto state = descriptor ? os::stateOf(descriptor.get()) : std::nullopt;
    if (!state)
        return tl::unexpected(readError(errno, path));
    if (state->kind != os::FileState::Kind::Regular)
        return fail<"trace.no_file", "this is a folder or device, not a trace file">(
            Error::Code::Invalid, path.string(), "choose a .sstrace file");
    return InputFile{std::move(descriptor), path};
}

Result<std::uint64_t> InputFile::size() const
{
    const auto state = os::stateOf(m_descriptor.get());
    if (!state)
        return tl::unexpected(readError(errno, m_path));
    return state->bytes;
}

Result<std::size_t> InputFile::read(std::uint64_t offset, std::span<std::byte> into) const
{
    const os::Transfer read = os::readAt(m_descriptor.get(), offset, into);
    if (read.error != 0)
        return tl::unexpected(readError(read.error, m_path));
    return read.bytes;
}

FrameScanner::FrameScanner(InputFile file, std::uint64_t offset) : m_file(std::move(file)), m_offset(offset) {}

Result<void> FrameScanner::refresh()
{
    const auto size = m_file.size();
    if (!size)
        return tl::unexpected(size.error());
    if (*size < m_offset)
        return fail<"trace.shorter", "the trace file was truncated by another program while it was being read">(
            Error::Code::Malformed, m_file.path().string(), "open the file again");
    m_size = *size;
    m_hashed = 0;
    // A writer whose disk was full truncates an unfinished frame and writes another one in its place.
    m_buffer.clear();
    return {};
}

Result<std::span<const std::byte>> FrameScanner::load(std::uint64_t offset, std::size_t bytes)
{
    const std::uint64_t there = offset < m_size ? m_size - offset : 0;
    bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, there));
    const bool held = offset >= m_bufferAt && offset + bytes <= m_bufferAt + m_buffer.size();
    if (!held) {
        m_buffer.resize(static_cast<std::size_t>(std::min<std::uint64_t>(std::max(bytes, kReadAhead), there)));
        m_bufferAt = offset;
        const auto read = m_file.read(offset, m_buffer);
        if (!read) {
            m_buffer.clear();
            return tl::unexpected(read.error());
        }
        if (*read < m_buffer.size()) {
            m_buffer.resize(*read);
            m_size = offset + *read;
        }
        bytes = std::min(bytes, m_buffer.size());
    }
    return std::span<const std::byte>{m_buffer}.subspan(static_cast<std::size_t>(offset - m_bufferAt), bytes);
}

/// The complete frame at `offset`; empty if there is none (yet).
Result<std::optional<Scanned>> FrameScanner::frameAt(std::uint64_t offset)
{
    std::optional<Scanned> none;
    auto bytes = load(offset, sizeof(FrameHeader));
    if (!bytes)
        return tl::unexpected(bytes.error());
    Scanned scanned{Scanned::What::Frame, offset, 0, {}, {}};
    if (bytes->size() < sizeof(FrameHeader))
        return none;
    std::memcpy(&scanned.header, bytes->data(), sizeof(FrameHeader));
    if (scanned.header.magic != kFrameMagic || scanned.header.payloadBytes > kMaxPayloadBytes)
        return none;
    scanned.bytes = sizeof(FrameHeader) + scanned.header.payloadBytes;
    if (scanned.bytes > m_size - offset)
        return none;
    bytes = load(offset, static_cast<std::size_t>(scanned.bytes));
    if (!bytes)
        return tl::unexpected(bytes.error());
    if (bytes->size() < scanned.bytes)
        return none;
    scanned.payload = bytes->subspan(sizeof(FrameHeader));
    m_hashed += scanned.bytes;
    if (frameChecksum(scanned.header, scanned.payload) != scanned.header.checksum)
        return none;
    return scanned;
}

Result<std::optional<std::uint64_t>> FrameScanner::findFrame(std::uint64_t from)
{
    std::byte magic[sizeof kFrameMagic];
    std::memcpy(magic, &kFrameMagic, sizeof magic);
    for (std::uint64_t at = from; at + sizeof(FrameHeader) <= m_size && m_hashed <= kMaxHashed + 4 * m_size;) {
        const auto bytes = load(at, sizeof(FrameHeader));
        if (!bytes)
            return tl::unexpected(bytes.error());
        const auto held = std::span<const std::byte>{m_buffer}.subspan(static_cast<std::size_t>(at - m_bufferAt));
        if (held.size() < sizeof(FrameHeader))
            break;
        const auto found = std::search(held.begin(), held.end(), std::begin(magic), std::end(magic));
        if (found == held.end()) {
            at += held.size() - (sizeof magic - 1); // the magic number may span two reads
            continue;
        }
        at += static_cast<std::uint64_t>(found - held.begin());
        const auto frame = frameAt(at);
        if (!frame)
            return tl::unexpected(frame.error());
        if (*frame)
            return std::optional{at};
        ++at;
    }
    return std::optional<std::uint64_t>{};
}

Result<Scanned> FrameScanner::next(bool last)
{
    if (m_offset >= m_size)
        return Scanned{};
    const auto frame = frameAt(m_offset);
    if (!frame)
        return tl::unexpected(frame.error());
    if (*frame) {
        m_offset += (*frame)->bytes;
        return **frame;
    }
    const auto found = findFrame(m_offset + 1);
    if (!found)
        return tl::unexpected(found.error());
    if (!*found && !last)
        return Scanned{};
    const std::uint64_t end = found->value_or(m_size);
    const Scanned damage{Scanned::What::Damage, m_offset, end - m_offset, {}, {}};
    m_offset = end;
    return damage;
}

} // namespace profiler::wire
