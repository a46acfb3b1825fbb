#pragma once

#include "profiler/formats/container/bytes.h"
#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace profiler::packed {

/// The raw bytes of a Block section.
/// @param slices  in the order of beginsBefore. Ordinals are not stored; they follow from the position in the track
Bytes encodeBlock(std::uint32_t track, std::uint32_t firstOrdinal, std::span<const RawSlice> slices);

/// The content of a Block section.
struct DecodedBlock {
    std::uint32_t track = 0;
    std::vector<RawSlice> slices; ///< ordinals increase by one
};

/// The numbers of strings and arguments. Slices that refer to others are damaged.
struct BlockLimits {
    std::uint32_t names = 0, args = 0;
};
/// Decodes untrusted bytes; empty if they are not a valid block.
std::optional<DecodedBlock> decodeBlock(std::span<const std::byte> raw, const BlockLimits& limits);
/// The first fields of a Block section.
struct BlockHead {
    std::uint32_t track, firstOrdinal, count;
};
std::optional<BlockHead> headOfBlock(std::span<const std::byte> raw);

} // namespace profiler::packed
