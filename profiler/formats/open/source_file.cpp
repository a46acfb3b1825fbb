#include "profiler/formats/open/source_file.h"

#include "profiler/os/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <system_error>
#include <zlib.h>
#include <zstd.h>

namespace profiler::formats {

Error readError(int number, const std::filesystem::path& path)
{
    auto error = makeError<"file.unreadable", "cannot read the file: {why}">(
        Error::Code::Io, path.string(), {}, {{"why", std::generic_category().message(number)}});
    if (number == EACCES || number == EPERM) {
        error.code = Error::Code::Permission;
        error.hint = "ask the owner of the file for read permission";
    } else if (number == ENOENT || number == ENOTDIR) {
        error.code = Error::Code::NotFound;
        error.hint = "check the path";
    }
    return error;
}

Result<SourceFile> SourceFile::open(const std::filesystem::path& path)
{
    os::Descriptor descriptor = os::openToRead(path);
    const auto state = descriptor ? os::stateOf(descriptor.get()) : std::nullopt;
    if (!state)
        return tl::unexpected(readError(errno, path));
    if (state->kind == os::FileState::Kind::Folder)
        return fail<"file.folder", "this is a folder, not a file">(Error::Code::Invalid, path.string(),
                                                                   "choose a file in it");
    if (state->kind != os::FileState::Kind::Regular)
        return fail<"file.irregular", "this is not a regular file">(Error::Code::Invalid, path.string(),
                                                                    "copy its content into a file first");
    SourceFile file{descriptor.release()};
    file.m_size = state->bytes;
    return file;
}

std::size_t SourceFile::read(std::uint64_t offset, std::span<char> out, int& error) const
{
    const os::Transfer read = os::readAt(m_descriptor.get(), offset, std::as_writable_bytes(out));
    if (read.error != 0)
        error = read.error;
    return read.bytes;
}

namespace {
constexpr std::size_t kInputBytes = std::size_t{256} << 10;
constexpr unsigned char kGzipMagic[] = {0x1f, 0x8b};
constexpr unsigned char kZstdMagic[] = {0x28, 0xb5, 0x2f, 0xfd};
constexpr int kGzipWindow = 15 + 16; // 15: the largest window; 16: expect a gzip header and checksum

std::string at(std::uint64_t offset)
{
    return " at byte " + std::to_string(offset) + " of the compressed file";
}
} // namespace

struct InflateStream::Gzip {
    z_stream stream{};
    bool inside = true; ///< inside a member

    Gzip() { inflateInit2(&stream, kGzipWindow); }
    ~Gzip() { inflateEnd(&stream); }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;

    /// Returns false at the end of the content.
    bool step(InflateStream& owner, std::span<char> out, std::size_t& made);
};

struct InflateStream::Zstd {
    std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context{ZSTD_createDCtx(), ZSTD_freeDCtx};
    bool inside = true; ///< inside a frame

    bool step(InflateStream& owner, std::span<char> out, std::size_t& made);
};

Compression compressionOf(std::span<const std::byte> head)
{
    const auto begins = [&](std::span<const unsigned char> magic) {
        return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
    };
    if (begins(kGzipMagic))
        return Compression::Gzip;
    return begins(kZstdMagic) ? Compression::Zstd : Compression::None;
}

InflateStream::InflateStream(const SourceFile& file, Compression compression)
    : m_file(file), m_input(std::make_unique_for_overwrite<char[]>(kInputBytes))
{
    if (compression == Compression::Gzip)
        m_gzip = std::make_unique<Gzip>();
    else
        m_zstd = std::make_unique<Zstd>();
}

InflateStream::~InflateStream() = default;

bool InflateStream::refill()
{
    if (m_next < m_end)
        return true;
    int error = 0;
    m_next = 0;
    m_end = m_file.read(m_taken, {m_input.get(), kInputBytes}, error);
    m_taken += m_end;
    if (error != 0)
        m_damage = "cannot continue reading" + at(m_taken) + ": " + std::generic_category().message(error);
    return m_end > 0;
}

bool InflateStream::Gzip::step(InflateStream& owner, std::span<char> out, std::size_t& made)
{
    if (!inside) {
        // Another member or padding may follow. Like gzip, ignores anything else.
        while (owner.m_next < owner.m_end && owner.m_input[owner.m_next] == 0)
            ++owner.m_next;
        if (owner.m_next == owner.m_end)
            return true;
        if (static_cast<unsigned char>(owner.m_input[owner.m_next]) != kGzipMagic[0]) {
            owner.m_trailing = owner.m_taken - (owner.m_end - owner.m_next);
            return false;
        }
        inflateReset2(&stream, kGzipWindow);
        inside = true;
    }
    const std::size_t most = std::numeric_limits<uInt>::max();
    stream.next_in = reinterpret_cast<Bytef*>(owner.m_input.get() + owner.m_next);
    stream.avail_in = static_cast<uInt>(owner.m_end - owner.m_next);
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(std::min(out.size(), most));
    const uInt room = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    made = room - stream.avail_out;
    owner.m_next = owner.m_end - stream.avail_in;
    if (status == Z_STREAM_END) {
        inside = false;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
        const std::uint64_t place = owner.m_taken - stream.avail_in;
        const std::string_view why = stream.msg ? stream.msg : "damaged data";
        owner.m_damage =
            (why == "incorrect data check" ? "the gzip checksum is wrong" : "gzip: " + std::string(why)) + at(place);
        return false;
    }
    return true;
}

bool InflateStream::Zstd::step(InflateStream& owner, std::span<char> out, std::size_t& made)
{
    ZSTD_inBuffer input{owner.m_input.get(), owner.m_end, owner.m_next};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t status = ZSTD_decompressStream(context.get(), &output, &input);
    owner.m_next = input.pos;
    made = output.pos;
    if (ZSTD_isError(status)) {
        const std::uint64_t place = owner.m_taken - (owner.m_end - owner.m_next);
        owner.m_damage = "zstd: " + std::string(ZSTD_getErrorName(status)) + at(place);
        return false;
    }
    inside = status != 0;
    return true;
}

std::size_t InflateStream::read(std::span<char> out)
{
    std::size_t done = 0;
    while (done < out.size() && !m_over) {
        const bool more = refill();
        const bool inside = m_gzip ? m_gzip->inside : m_zstd->inside;
        if (!more && !inside)
            m_over = true;
        std::size_t made = 0;
        // A decoder may still have output after the end of its input.
        if (!m_over &&
            !(m_gzip ? m_gzip->step(*this, out.subspan(done), made) : m_zstd->step(*this, out.subspan(done), made)))
            m_over = true;
        done += made;
        if (!more && made == 0 && !m_over) {
            m_over = true;
            if (m_damage.empty())
                m_damage = "the compressed file is truncated" + at(m_taken);
        }
    }
    return done;
}

} // namespace profiler::formats
