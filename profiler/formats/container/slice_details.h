#pragma once

#include "profiler/formats/container/block_file.h"
#include "profiler/model/result.h"
#include "profiler/model/slice_columns.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::container {

/// The numbers of the slices in a block. The slices are consecutive in the file; the first one has the number
/// `first`, which is at least 1.
struct DetailsHead {
    std::uint64_t first;
    std::uint32_t count, unused;
};

/// Limits of a Details block, so that one click reads little data and a damaged file cannot exhaust memory.
namespace details_limit {
inline constexpr std::size_t kSlices = 4096;
inline constexpr std::size_t kBytes = std::size_t{4} << 20;   ///< of text; the slice that exceeds it ends the block
inline constexpr std::size_t kOfSlice = std::size_t{4} << 20; ///< bytes per slice
inline constexpr std::size_t kEntries = 1024;                 ///< per slice
} // namespace details_limit

/// The size of a slice's details that counts towards details_limit::kBytes.
std::size_t sizeOf(const SliceDetails& details);

/// Truncates details beyond the limits of one slice, and appends an entry that says so.
void limitDetails(SliceDetails& details);

/// The raw bytes of a Details block. Slices with the same names in the same order are stored together, name by name:
/// numbers as numbers, and each distinct text once. Decoding returns the exact texts.
/// @param all  at most details_limit::kSlices, each within the limits
Bytes encodeDetails(std::uint64_t first, std::span<const SliceDetails> all);

/// The content of a Details block.
struct DecodedDetails {
    std::uint64_t first = 0;
    std::vector<SliceDetails> slices;
};
/// Decodes untrusted bytes; empty if they are invalid.
std::optional<DecodedDetails> decodeDetails(std::span<const std::byte> raw);
/// The first bytes of a Details block; empty if they are missing.
std::optional<DetailsHead> headOfDetails(std::span<const std::byte> raw);

/// Writes texts with the same name. If all of them are integers or decimal numbers that convert back exactly, they are
/// stored as numbers; otherwise each distinct text is stored once.
void putValues(ByteWriter& writer, std::span<const std::string_view> values);

/// Reads the texts that putValues wrote. Empty if the bytes are invalid.
/// @param room  the remaining bytes for texts; reduced by the size of these texts
std::optional<std::vector<std::string>> takeValues(ByteReader& reader, std::size_t count, std::size_t& room);

/// The Details blocks of a block's slices, ready to be written.
struct DetailsOfBlock {
    struct Block {
        std::uint64_t first = 0; ///< number of the first slice
        Bytes bytes;
    };
    std::vector<Block> blocks;
    std::uint64_t unread = 0;   ///< slices whose details can no longer be read from their file
    std::string whyUnread = {}; ///< the first error
};

/// Reads the details of a block's slices from the original file and numbers the slices. RawSlice::source() becomes the
/// number in the Details block, or 0 for slices without details.
/// @param first  the number of the block's first slice
/// @return Cancelled, or NoSpace if there is not enough memory
Result<DetailsOfBlock> packDetails(const ArgSource* source, std::span<RawSlice> slices, std::uint64_t first,
                                   const std::stop_token& stop);

/// The position of a Details block.
struct DetailsEntry {
    std::uint64_t first = 0; ///< number of its first slice
    std::uint64_t offset = 0;
};

/// The content of the DetailsIndex block.
struct DetailsIndex {
    std::vector<DetailsEntry> entries; ///< sorted by number and by position
    std::uint64_t unread = 0;          ///< slices whose details could not be read when the copy was made
    std::string whyUnread{};
};
Bytes encodeDetailsIndex(const DetailsIndex& index);
/// Empty if the bytes are not an index.
std::optional<DetailsIndex> decodeDetailsIndex(std::span<const std::byte> raw);

/// The details in a sealed file, read block by block. The last block stays decoded.
class SealedDetails final : public ArgSource {
public:
    /// @param entries  sorted by number
    SealedDetails(std::shared_ptr<const BlockFile> file, std::vector<DetailsEntry> entries)
        : m_file(std::move(file)), m_entries(std::move(entries))
    {
    }
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override;
    void readMany(std::span<const std::uint64_t> sources,
                  const std::function<bool(Result<SliceDetails>)>& take) const override;

private:
    using Block = std::shared_ptr<const DecodedDetails>;
    [[nodiscard]] Result<Block> blockOf(std::uint64_t source) const;
    static Result<SliceDetails> readFrom(const Result<Block>& block, std::uint64_t source);

    std::shared_ptr<const BlockFile> m_file;
    std::vector<DetailsEntry> m_entries;
    mutable std::mutex m_mutex; ///< guards the members below; held only briefly
    mutable Block m_last;
};

} // namespace profiler::container
