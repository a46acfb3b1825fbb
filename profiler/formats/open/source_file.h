#pragma once

#include "profiler/model/result.h"
#include "profiler/os/files.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

/// A file that is being read, and its decompressed content.
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

enum class Compression : std::uint8_t { None, Gzip, Zstd };
/// The compression of a file, from the magic number at its start.
Compression compressionOf(std::span<const std::byte> head);

/// The decompressed content of a file; concatenated members are joined. For use by one thread.
class InflateStream {
public:
    /// @param file  must outlive the stream
    InflateStream(const SourceFile& file, Compression compression);
    ~InflateStream();

    /// Fills `out`. Returns fewer bytes only at the end of the content or after damage, see damage().
    std::size_t read(std::span<char> out);
    /// What is wrong with the file, and at which byte; empty if nothing was found so far.
    [[nodiscard]] const std::string& damage() const { return m_damage; }
    /// The position of data after the content that is neither compressed nor zero padding; 0 if there is none.
    [[nodiscard]] std::uint64_t trailing() const { return m_trailing; }
    /// Number of bytes of the file that have been consumed.
    [[nodiscard]] std::uint64_t taken() const { return m_taken; }

private:
    struct Gzip;
    struct Zstd;
    bool refill();

    const SourceFile& m_file;
    std::unique_ptr<Gzip> m_gzip;
    std::unique_ptr<Zstd> m_zstd;
    std::unique_ptr<char[]> m_input;
    std::size_t m_next = 0, m_end = 0; ///< the unused part of m_input
    std::uint64_t m_taken = 0, m_trailing = 0;
    std::string m_damage;
    bool m_over = false;
};

} // namespace profiler::formats
