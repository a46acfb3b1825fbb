#pragma once

#include "profiler/io/formats/open/source_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace profiler::formats {

enum class Compression : std::uint8_t { None, Gzip, Zstd };
/// By the magic number that the file begins with.
Compression compressionOf(std::span<const std::byte> head);

/// The content of a compressed file, from its beginning to its end; concatenated members follow one another. One owner.
class InflateStream {
public:
    /// @param file  must outlive the stream
    InflateStream(const SourceFile& file, Compression compression);
    ~InflateStream();

    /// Fills `out`. Fewer bytes than asked for: the content ends, or damage() says why there is no more.
    std::size_t read(std::span<char> out);
    /// What is wrong with the file and at which byte of it; empty: nothing so far.
    [[nodiscard]] const std::string& damage() const { return m_damage; }
    /// Where something follows the content that is neither compressed nor padding of zeros: the byte of the file; 0:
    /// nowhere.
    [[nodiscard]] std::uint64_t trailing() const { return m_trailing; }
    /// Bytes of the file that were taken in.
    [[nodiscard]] std::uint64_t taken() const { return m_taken; }

private:
    struct Gzip;
    struct Zstd;
    bool refill();

    const SourceFile& m_file;
    std::unique_ptr<Gzip> m_gzip;
    std::unique_ptr<Zstd> m_zstd;
    std::unique_ptr<char[]> m_input;
    std::size_t m_next = 0, m_end = 0; ///< of m_input, what is not used yet
    std::uint64_t m_taken = 0, m_trailing = 0;
    std::string m_damage;
    bool m_over = false;
};

} // namespace profiler::formats
