#pragma once

#include "profiler/formats/container/trace_file.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// The blocks of a sealed trace file: frames (frame.h) whose payload is compressed with zstd, and which are read by
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

using Bytes = std::vector<std::byte>;

/// Appends numbers, texts and columns of numbers in the format's byte order, little-endian.
class ByteWriter {
public:
    template <class T>
    void put(T value)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        const auto raw = std::as_bytes(std::span{&value, 1});
        m_bytes.insert(m_bytes.end(), raw.begin(), raw.end());
    }
    void putText(std::string_view text);
    /// Subtracts the smallest number from each number and stores the results with the smallest sufficient number of
    /// bytes, plane by plane: first all lowest bytes, then the next ones. The bytes within a plane are similar, which
    /// helps the compressor.
    void putColumn(std::span<const std::int64_t> values);

    [[nodiscard]] Bytes& bytes() { return m_bytes; }

private:
    Bytes m_bytes;
};

/// Reads what ByteWriter wrote. After the first missing value, all results are empty and failed() is true.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::byte> bytes) : m_bytes(bytes) {}

    template <class T>
    T take()
    {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        if (const auto raw = takeBytes(sizeof value); !raw.empty())
            std::memcpy(&value, raw.data(), sizeof value);
        return value;
    }
    std::string_view takeText();
    /// Fills all of `values`.
    void takeColumn(std::span<std::int64_t> values);
    /// A count of items that take at least `least` bytes each. If that many cannot follow, returns 0 and failed()
    /// becomes true.
    std::uint32_t takeCount(std::size_t least);

    [[nodiscard]] bool failed() const { return m_failed; }
    [[nodiscard]] bool atEnd() const { return m_bytes.empty(); }
    void fail() { m_failed = true; }

private:
    std::span<const std::byte> takeBytes(std::size_t count);

    std::span<const std::byte> m_bytes;
    bool m_failed = false;
};

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
