#pragma once

#include "profiler/formats/open/source_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace profiler::formats {

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
