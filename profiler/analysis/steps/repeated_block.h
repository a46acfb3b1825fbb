#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace profiler::analysis {

/// A block that repeats in a sequence of names.
struct RepeatedBlock {
    std::vector<std::size_t> begins; ///< positions of the anchor, which occurs once per block; at least three
    std::size_t length = 0;          ///< number of names in a typical block
    double share = 0; ///< share of the blocks' pairs of neighbours that also occur in a typical block, [0, 1]
};

/// Finds the shortest block that explains the sequence. The unit of comparison is a pair of neighbouring names. Anchors
/// are pairs that occur at least three times, with four of five distances near the usual one, over more than half of
/// the sequence. Each anchor divides the sequence into blocks. The typical count of a pair is its median over the
/// blocks, and the share of the anchor is the part of the pairs that occur as often as is typical. Repetition within a
/// block (layers) therefore explains little, because the rest of the block differs. The first block does not count,
/// because libraries try their kernels there. Among the anchors whose share is at least four fifths and within two
/// hundredths of the best, the most frequent one wins. If there are closers, only anchors whose blocks contain one
/// qualify. Among equally frequent anchors, the one that follows a closer most closely wins, otherwise the one that
/// occurs first.
/// @param names    any ids; equal ids are equal names
/// @param closers  one for each position: true for names that end a block (the optimizer); may be all false
/// @return empty if nothing repeats in this way. O(n log n)
std::optional<RepeatedBlock> repeatedBlock(std::span<const std::uint32_t> names, const std::vector<bool>& closers);

} // namespace profiler::analysis
