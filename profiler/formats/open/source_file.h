#pragma once

#include "profiler/model/result.h"
#include "profiler/os/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace profiler::formats {

/// A regular file, open for reading. Reads by position instead of mapping the file, because truncating a mapped file
/// kills the process. Closed by the destructor; movable, not copyable. read() is thread-safe.
class SourceFile {
public:
    /// Fails if the file does not exist, is not readable or is not a regular file.
    static Result<SourceFile> open(const std::filesystem::path& path);
    explicit SourceFile(int descriptor) : m_descriptor(descriptor) {}

    /// Size of the file when it was opened, in bytes.
    [[nodiscard]] std::uint64_t size() const { return m_size; }
    /// Fills `out` from byte `offset`. Returns the number of bytes read. It is smaller than requested at the end of the
    /// file, if the file shrank, and after an I/O error, whose errno is then in `error`.
    std::size_t read(std::uint64_t offset, std::span<char> out, int& error) const;
    [[nodiscard]] int descriptor() const { return m_descriptor.get(); }

private:
    os::Descriptor m_descriptor;
    std::uint64_t m_size = 0;
};

/// The Error for a failed call on a file that is being read.
/// @param number  errno of the call
Error readError(int number, const std::filesystem::path& path);

} // namespace profiler::formats
