#include "profiler/formats/container/trace_file.h"

#include "profiler/formats/container/frame.h"
#include "profiler/os/file_lock.h"
#include "profiler/os/files.h"
#include "profiler/os/process.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

namespace profiler::container {

std::string reasonOf(int number)
{
    return std::generic_category().message(number);
}

Error fileError(int number, Message what, const std::filesystem::path& path)
{
    Error error{Error::Code::Io, std::move(what), path.string(), {}};
    switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        error.code = Error::Code::NoSpace;
        error.hint = "free some space, or record into a folder on another disk";
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        error.code = Error::Code::Permission;
        error.hint = "record into a folder that you may write to";
        break;
    case ENOENT:
    case ENOTDIR:
        error.code = Error::Code::NotFound;
        error.hint = "create the folder, or choose an existing one";
        break;
    case EISDIR:
        error.code = Error::Code::Invalid;
        error.hint = "choose a file name instead of a folder";
        break;
    default:
        break;
    }
    return error;
}

namespace {

constexpr std::uint32_t kMaxHeaderBytes = 4096;

/// The header of sealed files up to version 6.
struct OldSealedHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes;
    std::uint64_t overviewOffset; ///< 0: the file is incomplete
    std::uint64_t fileBytes;
    std::uint64_t checksum; ///< of the fields above
};
static_assert(sizeof(OldSealedHeader) == 40);
constexpr char kOldSealedMagic[8] = {'S', 'S', 'P', 'A', 'C', 'K', '\r', '\n'};
constexpr std::uint32_t kLastOldSealed = 6;

template <profiler::detail::Literal Id, profiler::detail::Literal Text>
tl::unexpected<Error> notOurs(const std::filesystem::path& path)
{
    return fail<Id, Text>(Error::Code::Malformed, path.string(), "choose a .sstrace file that Stepscope recorded");
}

/// True if a file whose first bytes are `head`, possibly fewer than the magic number has, can start with it.
bool isStartOf(std::span<const std::byte> head, const char (&magic)[8])
{
    return std::memcmp(head.data(), magic, std::min(head.size(), sizeof magic)) == 0;
}

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

/// Renames a file. @return 0, or errno
int giveName(const std::filesystem::path& from, const std::filesystem::path& to, bool replace)
{
    if (!replace)
        return os::renameToNew(from, to);
    std::error_code failed;
    std::filesystem::rename(from, to, failed);
    return failed.value();
}

} // namespace

Result<InputFile> InputFile::open(const std::filesystem::path& path)
{
    os::Descriptor descriptor = os::openToRead(path);
    const auto state = descriptor ? os::stateOf(descriptor.get()) : std::nullopt;
    if (!state)
        return tl::unexpected(readError(errno, path));
    if (state->kind != os::FileState::Kind::Regular)
        return fail<"trace.no_file", "this is a folder or device, not a trace file">(
            Error::Code::Invalid, path.string(), "choose a .sstrace file");
    InputFile file{descriptor.get(), path};
    file.m_owned = std::move(descriptor);
    return file;
}

Result<std::uint64_t> InputFile::size() const
{
    if (m_bytes)
        return m_bytes->size();
    const auto state = os::stateOf(m_descriptor);
    if (!state)
        return tl::unexpected(readError(errno, m_path));
    return state->bytes;
}

Result<std::size_t> InputFile::read(std::uint64_t offset, std::span<std::byte> into) const
{
    if (m_bytes)
        return m_bytes->read(offset, into);
    const os::Transfer read = os::readAt(m_descriptor, offset, into);
    if (read.error != 0)
        return tl::unexpected(readError(read.error, m_path));
    return read.bytes;
}

bool isTrace(std::span<const std::byte> head)
{
    const auto startsWith = [&](const auto& magic) {
        return head.size() >= sizeof magic && std::memcmp(head.data(), magic, sizeof magic) == 0;
    };
    return startsWith(kFileMagic) || startsWith(kOldSealedMagic);
}

Result<TraceHeader> readHeader(const InputFile& file)
{
    std::byte bytes[sizeof(FileHeader)]{};
    const auto read = file.read(0, bytes);
    if (!read)
        return tl::unexpected(read.error());
    const std::span<const std::byte> head{bytes, *read};
    const bool isOldSealed = !head.empty() && isStartOf(head, kOldSealedMagic);
    if (!isOldSealed && !isStartOf(head, kFileMagic))
        return notOurs<"trace.no_trace", "this is not a Stepscope trace">(file.path());
    if (head.empty())
        return notOurs<"trace.empty", "the trace file is empty">(file.path());
    const std::size_t least = isOldSealed ? sizeof(OldSealedHeader) : kFirstHeaderBytes;
    if (head.size() < least)
        return notOurs<"trace.short_header", "the trace file ends within its header">(file.path());
    std::uint32_t version = 0, headerBytes = 0; // in the same places in both kinds of headers
    std::memcpy(&version, &bytes[offsetof(FileHeader, version)], sizeof version);
    std::memcpy(&headerBytes, &bytes[offsetof(FileHeader, headerBytes)], sizeof headerBytes);
    if (version > (isOldSealed ? kLastOldSealed : kVersion))
        return fail<"trace.newer", "the trace has version {version} of the format; this program reads up to {most}">(
            Error::Code::Unsupported, file.path().string(), "open it with a newer version of Stepscope",
            {{"version", version}, {"most", kVersion}});
    const bool isShort = !isOldSealed && version < kVersion; // a live file of an older version
    if (!isOldSealed && !isShort && head.size() < sizeof(FileHeader))
        return notOurs<"trace.short_header", "the trace file ends within its header">(file.path());
    TraceHeader header{.version = version, .headerBytes = headerBytes, .isOldSealed = isOldSealed};
    bool good = version > 0 && headerBytes <= kMaxHeaderBytes;
    if (isOldSealed) {
        OldSealedHeader old{};
        std::memcpy(&old, bytes, sizeof old);
        good = good && headerBytes >= sizeof old &&
               old.checksum == checksumOf({bytes, offsetof(OldSealedHeader, checksum)});
        header.isSealed = true;
        header.overviewOffset = old.overviewOffset;
        header.fileBytes = old.fileBytes;
    } else {
        FileHeader whole{};
        std::memcpy(&whole, bytes, isShort ? kFirstHeaderBytes : sizeof whole);
        header.runId = whole.runId;
        header.isSealed = whole.fileBytes != 0;
        header.overviewOffset = whole.overviewOffset;
        header.fileBytes = whole.fileBytes;
        good = good && headerBytes >= (isShort ? kFirstHeaderBytes : sizeof whole) &&
               (!header.isSealed || whole.checksum == headerChecksum(whole));
    }
    if (!good)
        return notOurs<"trace.bad_header", "the header of the trace file is damaged">(file.path());
    return header;
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

struct FrameWriter::State {
    std::filesystem::path path;
    std::filesystem::path temporary; ///< set until the file has its final name
    os::OwnFile file;
    std::uint64_t written = 0; ///< bytes of complete frames
    std::uint32_t sequence = 0;
    bool broken = false; ///< an incomplete frame could not be removed; data after it would be unreadable

    ~State();
    /// The current name of the file.
    [[nodiscard]] const std::filesystem::path& name() const { return temporary.empty() ? path : temporary; }
    int writeAll(std::span<const std::byte> head, std::span<const std::byte> body);
    void cutOff();
};

FrameWriter::State::~State()
{
    std::error_code ignored;
    if (!temporary.empty())
        std::filesystem::remove(temporary, ignored);
}

/// @return 0, or errno with the file unchanged. Errors of open(2): the file was closed and cannot be reopened.
int FrameWriter::State::writeAll(std::span<const std::byte> head, std::span<const std::byte> body)
{
    const int number = file.number(name());
    if (number < 0)
        return errno;
    const os::Transfer put = os::writeAll(number, head, body);
    if (put.error != 0) {
        cutOff();
        return put.error;
    }
    written += put.bytes;
    return 0;
}

void FrameWriter::State::cutOff()
{
    const int number = file.number(name());
    broken = number < 0 || os::resize(number, written) != 0;
}

FrameWriter::FrameWriter() : m(std::make_unique<State>()) {}
FrameWriter::~FrameWriter() = default;

Result<std::unique_ptr<FrameWriter>> FrameWriter::create(const std::filesystem::path& path, std::uint64_t runId,
                                                         bool replace)
{
    const auto failed = [&](int number) {
        return tl::unexpected(fileError<"trace.make", "cannot create the trace file: {why}">(number, path));
    };
    // rename() would fail on a folder of that name only after the file was created, so this is checked first.
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return failed(EISDIR);
    std::unique_ptr<FrameWriter> writer(new FrameWriter);
    State& state = *writer->m;
    state.path = path;
    auto temporary = path;
    temporary += "." + std::to_string(os::processId()) + "." + std::to_string(runId) + ".new";
    if (!state.file.create(temporary, os::OwnFile::Use::Append))
        return failed(errno);
    state.temporary = temporary;
    state.file.lock();
    const FileHeader header = makeFileHeader(os::processId(), runId);
    if (const int number = state.writeAll(std::as_bytes(std::span(&header, 1)), {}))
        return failed(number);
    if (const int number = giveName(temporary, path, replace))
        return failed(number);
    state.temporary.clear();
    return writer;
}

Result<void> FrameWriter::write(FrameType type, std::span<const std::byte> payload)
{
    if (payload.size() > kMaxPayloadBytes)
        return fail<"trace.frame_size", "a frame of {bytes} bytes exceeds the size limit of the trace format">(
            Error::Code::Invalid, m->path.string(), {}, {{"bytes", payload.size()}});
    if (m->broken)
        m->cutOff();
    if (m->broken)
        return fail<"trace.broken_end", "the end of the trace file could not be repaired after a failed write">(
            Error::Code::Io, m->path.string(), "check the disk; the data written before is readable");
    // Writing to a deleted file succeeds, but the data would be lost.
    if (m->file.number(m->path) >= 0 && m->file.isDeleted())
        return fail<"trace.deleted", "the trace file was deleted during the recording">(
            Error::Code::NotFound, m->path.string(),
            "record again, and do not delete files of the recording while it runs");
    const FrameHeader header = makeFrameHeader(type, m->sequence, payload);
    if (const int number = m->writeAll(std::as_bytes(std::span(&header, 1)), payload))
        return tl::unexpected(fileError<"trace.write", "cannot write the trace: {why}">(number, m->path));
    ++m->sequence;
    return {};
}

void FrameWriter::keepOpen()
{
    static_cast<void>(m->file.number(m->path));
}

void FrameWriter::close()
{
    m->file.close();
}

std::uint64_t FrameWriter::bytesWritten() const
{
    return m->written;
}

} // namespace profiler::container
