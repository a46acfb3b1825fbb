#pragma once

#include "profiler/io/packed/bytes.h"
#include "profiler/model/raw_slice.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace profiler::packed {

/// The raw bytes of a Block section.
/// @param slices  in the order of beginsBefore; their ordinals are not kept: they are positions in the track
Bytes encodeBlock(std::uint32_t track, std::uint32_t firstOrdinal, std::span<const RawSlice> slices);

/// What a Block section holds.
struct DecodedBlock {
    std::uint32_t track = 0;
    std::vector<RawSlice> slices; ///< ordinals rise by one
};

/// How many strings and arguments there are: slices that name others are damage.
struct BlockLimits {
    std::uint32_t names = 0, args = 0;
};
/// Empty where the bytes are no block: nothing of what they say is trusted.
std::optional<DecodedBlock> decodeBlock(std::span<const std::byte> raw, const BlockLimits& limits);
/// The first bytes of a Block section.
struct BlockHead {
    std::uint32_t track, firstOrdinal, count;
};
std::optional<BlockHead> headOfBlock(std::span<const std::byte> raw);

} // namespace profiler::packed
