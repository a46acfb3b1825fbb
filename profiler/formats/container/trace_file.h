#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/model/positioned_bytes.h"
#include "profiler/model/result.h"
#include "profiler/os/file_lock.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Trace files as sequences of frames: opening, scanning and appending to them.
namespace profiler::container {

/// The Error for a failed call on a file, with a hint for the user.
/// @param number  errno of the call
Error fileError(int number, Message what, const std::filesystem::path& path);

/// The message for `number`: "No space left on device".
std::string reasonOf(int number);

/// Overload for a message that says what was tried and ends with the reason: "cannot write the trace: {why}".
template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Error fileError(int number, const std::filesystem::path& path)
{
    return fileError(number, message<Id, Text>({{"why", reasonOf(number)}}), path);
}

/// A regular file, open for reading by position. If the file shrinks, reads are short instead of causing SIGBUS.
class InputFile {
public:
    /// Returns an Error with the reason if the file cannot be read. Rejects devices and pipes.
    static Result<InputFile> open(const std::filesystem::path& path);
    /// Reads from a descriptor that the caller keeps open; `name` is used in messages.
    InputFile(int descriptor, std::filesystem::path name) : m_descriptor(descriptor), m_path(std::move(name)) {}
    /// Reads a file that is not here; `name` is used in messages.
    InputFile(std::shared_ptr<const PositionedBytes> bytes, std::filesystem::path name)
        : m_bytes(std::move(bytes)), m_path(std::move(name))
    {
    }

    [[nodiscard]] Result<std::uint64_t> size() const;
    /// Returns the number of bytes read, which is smaller than requested only at the end of the file.
    Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Whether a writer holds the lock on the file and is therefore alive.
    [[nodiscard]] os::LockHolder lockHolder() const { return os::lockHolder(m_descriptor); }

private:
    os::Descriptor m_owned; ///< empty if the caller owns the descriptor
    int m_descriptor = -1;
    std::shared_ptr<const PositionedBytes> m_bytes; ///< null: the descriptor is read
    std::filesystem::path m_path;
};

/// The contents of the header of a trace file of any version.
struct TraceHeader {
    std::uint32_t version = 0;
    std::uint64_t headerBytes = 0; ///< position of the first frame
    std::uint64_t runId = 0;
    bool isSealed = false, isOldSealed = false; ///< old: a sealed file up to version 6
    std::uint64_t overviewOffset = 0;           ///< 0: missing
    std::uint64_t fileBytes = 0;                ///< of a sealed file
};

/// True if the file is in Stepscope's format, of any version.
/// @param head  its first bytes
bool isTrace(std::span<const std::byte> head);

/// Fails if the file is not a Stepscope trace, or has a newer version.
Result<TraceHeader> readHeader(const InputFile& file);

/// The next item in a trace file.
struct Scanned {
    enum class What {
        Nothing, ///< no complete frame yet
        Frame,
        Damage, ///< bytes that are not a frame, followed by a complete frame or the end of the file
    };
    What what = What::Nothing;
    std::uint64_t offset = 0, bytes = 0; ///< Frame, Damage
    FrameHeader header{};                ///< Frame
    std::span<const std::byte> payload;  ///< Frame; valid until the next call
};

/// Finds complete frames in a file that may grow, be truncated, or be damaged.
class FrameScanner {
public:
    /// @param offset  of the first frame
    FrameScanner(InputFile file, std::uint64_t offset);

    /// Updates the size of the file; incomplete frames are read again. Fails if the file is shorter than what has been
    /// read.
    Result<void> refresh();
    /// Consumes and returns the next frame; damage before it is reported once. While a file grows, waits for the rest
    /// of what may be a frame. `last` means that no more data will come.
    Result<Scanned> next(bool last);

    [[nodiscard]] const InputFile& file() const { return m_file; }
    [[nodiscard]] std::uint64_t offset() const { return m_offset; } ///< position of the next frame
    [[nodiscard]] std::uint64_t size() const { return m_size; }     ///< size of the file at the last refresh()

private:
    /// @return the bytes; fewer at the end of the file
    Result<std::span<const std::byte>> load(std::uint64_t offset, std::size_t bytes);
    Result<std::optional<Scanned>> frameAt(std::uint64_t offset);
    Result<std::optional<std::uint64_t>> findFrame(std::uint64_t from);

    InputFile m_file;
    std::uint64_t m_offset, m_size = 0;
    std::vector<std::byte> m_buffer;
    std::uint64_t m_bufferAt = 0;
    std::uint64_t m_hashed = 0; ///< bytes hashed since refresh()
};

/// Appends frames with checksums to a trace file. Holds a lock on the file from before the file has its final name
/// until close(); readers use the lock to see that the writer is alive. Used by one thread at a time.
class FrameWriter {
public:
    /// Creates the file. Fails if the folder is missing or not writable, or if the disk is full. An existing file is
    /// replaced only after the new one was created.
    /// @param replace  false: fail if the file exists, even if it was created at the same time
    static Result<std::unique_ptr<FrameWriter>> create(const std::filesystem::path& path, std::uint64_t runId,
                                                       bool replace = true);
    ~FrameWriter();

    /// Writes one frame immediately, without user-space buffering. A failed or partial write (disk full) is undone by
    /// truncating the file to the last complete frame, so that it stays readable. Also fails if the file was deleted.
    Result<void> write(FrameType type, std::span<const std::byte> payload);
    [[nodiscard]] std::uint64_t bytesWritten() const;
    /// Reopens and locks the file if the program has closed it. Cheap if it has not.
    void keepOpen();
    /// Ends writing; readers no longer see a live writer. In a forked child: releases the file, which the parent
    /// continues to write.
    void close();

private:
    FrameWriter();
    struct State;
    std::unique_ptr<State> m;
};

} // namespace profiler::container
