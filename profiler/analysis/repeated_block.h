#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace profiler::analysis {

/// A block that a sequence of names repeats.
struct RepeatedBlock {
    std::vector<std::size_t> begins; ///< positions of the anchor, which each block has once; at least three
    std::size_t length = 0;          ///< names of a typical block
    double share = 0; ///< of the blocks' pairs of neighbours, those that a typical block has, too: [0, 1]
};

/// The shortest block that explains the sequence. What is compared are pairs of neighbouring names. Anchors are pairs
/// that come at least three times, four of five times as far from each other as usual, over more than half of the
/// sequence. Each cuts the sequence into blocks; a pair's typical count is its median over them, and the blocks' share
/// is how many of their pairs they have as often as is typical: so what repeats within a block (layers) explains
/// little, as the rest differs from it. The first block does not count, as libraries try their kernels then. Of the
/// anchors with a share of four fifths, and of the best share but for two hundredths, the most frequent is taken; where
/// names are closers, only those in whose blocks they come. Of those that are as frequent, the one that follows a
/// closer first, else the one that begins the sequence first.
/// @param names    any ids: equal ones are equal names
/// @param closers  one for each position: true for what a block ends with (the optimizer); may be all false
/// @return none where nothing repeats so. O(n log n)
std::optional<RepeatedBlock> repeatedBlock(std::span<const std::uint32_t> names, const std::vector<bool>& closers);

} // namespace profiler::analysis
