#pragma once

#include "profiler/io/wire/records.h"
#include "profiler/model/result.h"
#include "profiler/os/file_lock.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace profiler::wire {

/// A regular file, open for reading by pread: one that shrinks meanwhile gives short reads, not a SIGBUS.
class InputFile {
public:
    /// Says for which reason a file cannot be read; devices and pipes are refused.
    static Result<InputFile> open(const std::filesystem::path& path);
    InputFile(InputFile&& other) noexcept;
    InputFile& operator=(InputFile&& other) = delete;
    ~InputFile();

    [[nodiscard]] Result<std::uint64_t> size() const;
    /// Returns how many bytes there were: fewer than asked for only at the end of the file.
    Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const;
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Whether a writer holds the lock on the file, and so is alive.
    [[nodiscard]] os::LockHolder lockHolder() const { return os::lockHolder(m_descriptor); }

private:
    InputFile(int descriptor, std::filesystem::path path);
    int m_descriptor;
    std::filesystem::path m_path;
};

/// What comes next in a trace file.
struct Scanned {
    enum class What {
        Nothing, ///< no whole frame yet
        Frame,
        Damage, ///< bytes that are no frame; a whole frame or the end of the file follows
    };
    What what = What::Nothing;
    std::uint64_t offset = 0, bytes = 0; ///< Frame, Damage
    FrameHeader header{};                ///< Frame
    std::span<const std::byte> payload;  ///< Frame; valid until the next call
};

/// Finds whole frames in a file that may grow, be cut, or be damaged.
class FrameScanner {
public:
    /// @param offset  of the first frame
    FrameScanner(InputFile file, std::uint64_t offset);

    /// Looks how long the file is now; bytes that were no whole frame are read anew. Fails when the file got shorter
    /// than what was read.
    Result<void> refresh();
    /// The next frame, taken; damage before it is reported once. While a file grows, what may be the beginning of a
    /// frame is waited for; `last` says that nothing will come.
    Result<Scanned> next(bool last);

    [[nodiscard]] const InputFile& file() const { return m_file; }
    [[nodiscard]] std::uint64_t offset() const { return m_offset; } ///< of what next() looks at
    [[nodiscard]] std::uint64_t size() const { return m_size; }     ///< of the file at the last refresh()

private:
    /// @return the bytes, fewer where the file ends
    Result<std::span<const std::byte>> load(std::uint64_t offset, std::size_t bytes);
    Result<std::optional<Scanned>> frameAt(std::uint64_t offset);
    Result<std::optional<std::uint64_t>> findFrame(std::uint64_t from);

    InputFile m_file;
    std::uint64_t m_offset, m_size = 0;
    std::vector<std::byte> m_buffer;
    std::uint64_t m_bufferAt = 0;
    std::uint64_t m_hashed = 0; ///< bytes, since refresh()
};

} // namespace profiler::wire
