#pragma once

#include "profiler/io/packed/bytes.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

/// Stepscope's own format for whole traces. A file is a header, then sections, each compressed (zstd) and with its own
/// checksum (XXH3):
///
///     Meta          tracks, strings, arguments, counters, what was lost
///     Samples …     65,536 of a counter that has more than these, read when somebody asks
///     Block …       65,536 slices of a track each; in any order of tracks
///     Details …     what the file that the trace came from says of 4,096 slices each, read when somebody asks
///     Meta          once more, byte for byte, for when the first is damaged; older files lack it
///     Overview      where each block lies, and its summary: enough to draw the trace zoomed out
///     DetailsIndex  where details lie; not there where there are none
///
/// Version 1 has no details, and nothing of a device but its name and UUID; version 2 has no order of processes; up to
/// version 3 all counters are in Meta; up to version 4 the overview does not say how time divides among names.
///
/// A damaged block costs its slices only; without its Overview (a cut file) the blocks are found one after the other.
namespace profiler::packed {

inline constexpr char kMagic[8] = {'S', 'S', 'P', 'A', 'C', 'K', '\r', '\n'};
inline constexpr std::uint32_t kVersion = 5;

struct FileHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes;    ///< where the first section begins
    std::uint64_t overviewOffset; ///< 0: not written to its end
    std::uint64_t fileBytes;
    std::uint64_t checksum; ///< of the fields before
};
static_assert(sizeof(FileHeader) == 40);

enum class SectionType : std::uint32_t {
    Meta = 1,
    Block = 2,
    Overview = 3,
    Details = 4,
    DetailsIndex = 5,
    Samples = 6
};

struct SectionHeader {
    std::uint32_t magic;
    SectionType type;
    std::uint64_t packedBytes, rawBytes;
    std::uint64_t checksum; ///< of the fields before, then of the packed bytes
};
static_assert(sizeof(SectionHeader) == 32);
inline constexpr std::uint32_t kSectionMagic = 0x54435353; // "SSCT"

std::uint64_t headerChecksum(const FileHeader& header);

/// Compressed bytes with their header, ready to be written. Fails for want of memory, and where `raw` is more than a
/// reader takes for such a section.
Result<Bytes> packSection(SectionType type, std::span<const std::byte> raw);

/// A file, read by pread; unlinked ones, too.
class SectionFile {
public:
    static Result<SectionFile> open(const std::filesystem::path& path);
    /// Reads by a descriptor, as far as its file goes now; `name` is for messages.
    /// @param owns  closes it in the end
    SectionFile(int descriptor, std::filesystem::path name, bool owns = true);
    SectionFile(SectionFile&& other) noexcept;
    SectionFile& operator=(SectionFile&&) = delete;
    ~SectionFile();

    [[nodiscard]] std::uint64_t size() const { return m_size; }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] Result<void> readAt(std::uint64_t offset, std::span<std::byte> into) const;
    /// The header of the section at `offset`; fails where there is none.
    [[nodiscard]] Result<SectionHeader> headerAt(std::uint64_t offset) const;
    /// The bytes of a section, checked and decompressed. Errors name the byte offset. Any thread.
    [[nodiscard]] Result<Bytes> read(std::uint64_t offset, SectionType type) const;
    /// Whether the checksum of a section is right.
    [[nodiscard]] Result<void> check(std::uint64_t offset, SectionType type) const;

private:
    [[nodiscard]] Result<Bytes> readPacked(std::uint64_t offset, SectionType type, SectionHeader& header) const;

    int m_descriptor;
    bool m_owns;
    std::filesystem::path m_path;
    std::uint64_t m_size = 0;
};

} // namespace profiler::packed
