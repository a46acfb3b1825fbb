#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/model/result.h"
#include "profiler/os/descriptor.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

/// Stepscope's own format for whole traces. A file is a header followed by sections. Each section is compressed (zstd)
/// and has its own checksum (XXH3):
///
///     Meta          tracks, strings, arguments, counters, losses
///     Samples …     65,536 samples of a counter that has more than that, read on demand
///     Block …       65,536 slices of a track; the tracks are in any order
///     Details …     details of 4,096 slices from the original file, read on demand
///     Meta          an identical copy in case the first one is damaged; absent in older files
///     Overview      position and summary of each block: enough to draw the trace zoomed out
///     DetailsIndex  positions of the details; absent if there are none
///
/// Version 1 has no details, and only the name and UUID of a device. Version 2 has no order of processes. Up to version
/// 3, all counters are in Meta. Up to version 4, the overview does not contain the times per name. Up to version 5,
/// Meta has no launch configurations and no limits of a device's multiprocessors.
///
/// A damaged block only loses its own slices. If the overview is missing (a truncated file), the blocks are found one
/// after the other.
namespace profiler::packed {

inline constexpr char kMagic[8] = {'S', 'S', 'P', 'A', 'C', 'K', '\r', '\n'};
inline constexpr std::uint32_t kVersion = 6;

struct FileHeader {
    char magic[8];
    std::uint32_t version;
    std::uint32_t headerBytes;    ///< position of the first section
    std::uint64_t overviewOffset; ///< 0: the file is incomplete
    std::uint64_t fileBytes;
    std::uint64_t checksum; ///< of the fields above
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
    std::uint64_t checksum; ///< of the fields above, then of the packed bytes
};
static_assert(sizeof(SectionHeader) == 32);
inline constexpr std::uint32_t kSectionMagic = 0x54435353; // "SSCT"

std::uint64_t headerChecksum(const FileHeader& header);

/// Compressed bytes with their header, ready to be written. Fails if memory runs out or `raw` is larger than readers
/// accept for this type of section.
Result<Bytes> packSection(SectionType type, std::span<const std::byte> raw);

/// A file that is read by position. It stays readable after it is deleted.
class SectionFile {
public:
    static Result<SectionFile> open(const std::filesystem::path& path);
    /// Reads from a descriptor, up to the current end of its file; `name` is used in messages.
    /// @param owns  close the descriptor in the destructor
    SectionFile(int descriptor, std::filesystem::path name, bool owns = true);

    [[nodiscard]] std::uint64_t size() const { return m_size; }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    [[nodiscard]] Result<void> readAt(std::uint64_t offset, std::span<std::byte> into) const;
    /// The header of the section at `offset`; fails if there is none.
    [[nodiscard]] Result<SectionHeader> headerAt(std::uint64_t offset) const;
    /// The bytes of a section, checked and decompressed. Errors contain the byte offset. Thread-safe.
    [[nodiscard]] Result<Bytes> read(std::uint64_t offset, SectionType type) const;
    /// Verifies the checksum of a section.
    [[nodiscard]] Result<void> check(std::uint64_t offset, SectionType type) const;

private:
    [[nodiscard]] Result<Bytes> readPacked(std::uint64_t offset, SectionType type, SectionHeader& header) const;

    os::Descriptor m_owned; ///< empty if the caller owns the descriptor
    int m_descriptor;
    std::filesystem::path m_path;
    std::uint64_t m_size = 0;
};

} // namespace profiler::packed
