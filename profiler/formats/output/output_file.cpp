#include "profiler/formats/output/output_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <zlib.h>

namespace profiler::formats::writers {

namespace {

constexpr auto kBetweenReports = std::chrono::milliseconds(40);
constexpr int kGzip = 15 + 16; // 15: the largest window; 16: gzip header
// Level 6 takes three times as long and saves only 10 %.
constexpr int kLevel = 3;

} // namespace

struct OutputFile::Deflate {
    z_stream stream{};
    std::array<unsigned char, 1 << 18> out{};

    Deflate() { deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY); }
    ~Deflate() { deflateEnd(&stream); }
    Deflate(const Deflate&) = delete;
    Deflate& operator=(const Deflate&) = delete;
};

OutputFile::OutputFile(OutputFile&&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::filesystem::path& path)
{
    OutputFile file;
    file.m_path = path;
    file.m_file = os::ReplacementFile::create(path);
    if (!file.m_file) {
        file.m_error = errno;
        return tl::unexpected(file.error());
    }
    file.m_buffer.reserve(kLot + kLot / 4);
    if (path.extension() == ".gz")
        file.m_deflate = std::make_unique<Deflate>();
    return file;
}

void OutputFile::put(std::string_view bytes)
{
    if (m_error == 0)
        m_error = m_file->write(bytes);
}

void OutputFile::flush(bool last)
{
    if (!m_deflate) {
        put(m_buffer);
        m_buffer.clear();
        return;
    }
    z_stream& stream = m_deflate->stream;
    stream.next_in = reinterpret_cast<unsigned char*>(m_buffer.data());
    stream.avail_in = static_cast<unsigned>(m_buffer.size());
    int status = Z_OK;
    do {
        stream.next_out = m_deflate->out.data();
        stream.avail_out = static_cast<unsigned>(m_deflate->out.size());
        status = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
        put({reinterpret_cast<const char*>(m_deflate->out.data()), m_deflate->out.size() - stream.avail_out});
    } while (m_error == 0 && (stream.avail_out == 0 || (last && status != Z_STREAM_END)));
    m_buffer.clear();
}

Error OutputFile::error() const
{
    const bool full = m_error == ENOSPC || m_error == EDQUOT;
    const bool forbidden = m_error == EACCES || m_error == EPERM || m_error == EROFS;
    return {.code = full        ? Error::Code::NoSpace
                    : forbidden ? Error::Code::Permission
                                : Error::Code::Io,
            .what = full ? message<"save.disk_full", "the disk is full">()
                         : message<"save.unwritable", "the file cannot be written: {why}">(
                               {{"why", std::strerror(m_error)}}),
            .where = m_path.string(),
            .hint = full ? "free some space, or write to another disk" : "write to a folder that you may write to"};
}

Result<void> OutputFile::commit()
{
    flush(true);
    if (m_error == 0)
        m_error = m_file->commit();
    return m_error == 0 ? Result<void>() : tl::unexpected(error());
}

std::int64_t firstTime(const Trace& trace)
{
    std::optional<std::int64_t> first;
    if (trace.sliceCount() > 0)
        first = toNs(trace.range().begin);
    for (const Track& track : trace.tracks())
        if (const auto samples = trace.counter(track.id); !samples.empty())
            first = std::min(first.value_or(toNs(samples.front().time)), toNs(samples.front().time));
    return first.value_or(0);
}

bool Walk::look()
{
    const auto now = std::chrono::steady_clock::now();
    if (m_options.progress && now - m_last >= kBetweenReports) {
        m_last = now;
        m_options.progress(
            std::min(1.0, static_cast<double>(m_done) / static_cast<double>(std::max<std::uint64_t>(m_all, 1))));
    }
    return !stopped();
}

Result<void> writeFile(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options,
                       const std::function<bool(OutputFile&)>& write)
{
    auto file = OutputFile::create(path);
    if (!file)
        return tl::unexpected(file.error());
    if (!write(*file) && !file->failed())
        return profiler::fail<"save.cancelled", "writing was cancelled">(Error::Code::Cancelled, path.string());
    if (const Unread missing = trace.unread(); missing.slices + missing.samples > 0)
        return profiler::fail<"save.unread",
                              "a part of the trace can no longer be read, so the trace cannot be copied: {why}">(
            Error::Code::Io, path.string(), "open the trace again", {{"why", missing.why}});
    if (auto done = file->commit(); !done)
        return done;
    if (options.progress)
        options.progress(1);
    return {};
}

} // namespace profiler::formats::writers
