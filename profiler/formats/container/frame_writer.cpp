#include "profiler/formats/container/frame_writer.h"

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/trace_file.h"
#include "profiler/os/files.h"
#include "profiler/os/own_file.h"
#include "profiler/os/process.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace profiler::container {

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

namespace {

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
