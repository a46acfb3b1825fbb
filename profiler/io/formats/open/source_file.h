#pragma once

#include "profiler/model/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace profiler::formats {

/// A regular file that is open for reading. Reads by position, never by mapping: a mapped file that is truncated
/// meanwhile kills the process. Closed by its destructor; moved, not copied. read() may be called by several threads at
/// once.
class SourceFile {
public:
    /// Fails where there is no such file, it may not be read, or it is no regular file.
    static Result<SourceFile> open(const std::filesystem::path& path);
    explicit SourceFile(int descriptor) : m_descriptor(descriptor) {}
    SourceFile(SourceFile&& other) noexcept;
    SourceFile& operator=(SourceFile&& other) noexcept;
    ~SourceFile();

    /// Bytes of the file when it was opened.
    [[nodiscard]] std::uint64_t size() const { return m_size; }
    /// Fills `out` from byte `offset` on. Returns the bytes read, fewer than asked for at the end of the file, where
    /// the file shrank meanwhile, and after an error of the disk, whose errno is then in `error`.
    std::size_t read(std::uint64_t offset, std::span<char> out, int& error) const;
    [[nodiscard]] int descriptor() const { return m_descriptor; }

private:
    int m_descriptor = -1;
    std::uint64_t m_size = 0;
};

/// An Error for a failed call on a file that is read.
/// @param number  errno of the call
Error readError(int number, const std::filesystem::path& path);

} // namespace profiler::formats
