#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/formats/container/trace_file.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>

/// The blocks of a sealed trace file: frames (records.h) whose payload is compressed with zstd, and which are read by
/// position:
///
///     Meta          tracks, strings, arguments, counters, losses
///     Samples …     65,536 samples of a counter that has more than that, read on demand
///     Slices …      65,536 slices of a track; the tracks are in any order
///     Details …     details of 4,096 slices from the original file, read on demand
///     Meta          an identical copy in case the first one is damaged; absent in older files
///     Overview      position and summary of each Slices block: enough to draw the trace zoomed out
///     DetailsIndex  positions of the details; absent if there are none
///
/// A damaged block only loses its own slices. If the overview is missing (a truncated file), the blocks are found one
/// after the other.
namespace profiler::container {

/// A frame with compressed `raw`, ready to be written. Fails if memory runs out or `raw` is larger than readers accept
/// for this type of block.
Result<Bytes> packBlock(FrameType type, std::span<const std::byte> raw);

/// The envelope of blocks up to version 6. Types were numbered from 1.
struct OldBlockHeader {
    std::uint32_t magic, type;
    std::uint64_t packedBytes, rawBytes;
    std::uint64_t checksum; ///< of the fields above, then of the packed bytes
};
static_assert(sizeof(OldBlockHeader) == 32);

/// The position of a block.
struct BlockPlace {
    FrameType type{};
    std::uint64_t payloadAt = 0, payloadBytes = 0;
    FrameHeader header{};                ///< since version 7
    std::optional<OldBlockHeader> old{}; ///< up to version 6

    [[nodiscard]] std::uint64_t end() const { return payloadAt + payloadBytes; }
};

/// A file of blocks that is read by position. It stays readable after it is deleted.
class BlockFile {
public:
    /// @param areOld  the blocks have the envelope of version 6 and before
    explicit BlockFile(InputFile file, bool areOld = false);

    [[nodiscard]] std::uint64_t size() const { return m_size; } ///< when the file was opened
    [[nodiscard]] const std::filesystem::path& path() const { return m_file.path(); }
    /// Fails if not all of the bytes are there.
    [[nodiscard]] Result<void> readAt(std::uint64_t offset, std::span<std::byte> into) const;
    /// The block at `offset`; fails if none starts there.
    [[nodiscard]] Result<BlockPlace> placeAt(std::uint64_t offset) const;
    /// The bytes of a block, checked and decompressed. Errors contain the byte offset. Thread-safe.
    [[nodiscard]] Result<Bytes> read(std::uint64_t offset, FrameType type) const;
    /// Verifies the checksum of a block.
    [[nodiscard]] Result<void> check(std::uint64_t offset, FrameType type) const;
    /// The number that each block starts with.
    [[nodiscard]] std::uint32_t magic() const;

private:
    /// @param place  set to the place of the block
    [[nodiscard]] Result<Bytes> readPacked(std::uint64_t offset, FrameType type, BlockPlace& place) const;

    InputFile m_file;
    bool m_areOld;
    std::uint64_t m_size = 0;
};

/// Finds possible starts of blocks in damaged data. Reads every byte once, however many candidates there are.
class BlockSearch {
public:
    explicit BlockSearch(const BlockFile& file) : m_file(file) {}
    /// The first position at or after `offset` with a block's magic number. Returns the file's size if there is none or
    /// the file cannot be read. Offsets must increase from call to call.
    [[nodiscard]] std::uint64_t next(std::uint64_t offset);

private:
    const BlockFile& m_file;
    Bytes m_window;
    std::uint64_t m_begin = 0; ///< start of the window
};

/// The position of the first block of a type at or after `offset` whose checksum is correct. Returns the file's size if
/// there is none or the search was stopped. Walks from block to block and skips damaged data.
[[nodiscard]] std::uint64_t findBlock(const BlockFile& file, std::uint64_t offset, FrameType type,
                                      const std::stop_token& stop);

} // namespace profiler::container
