#include "trainer/data/random.h"

#include <algorithm>
#include <array>
#include <xxhash.h>

namespace trainer::data {

namespace {

std::uint64_t hash(std::array<std::uint64_t, 3> words)
{
    return XXH3_64bits(words.data(), sizeof words);
}

} // namespace

std::uint64_t orderSeed(std::uint64_t runSeed, std::int64_t epoch)
{
    // No sample has the index −1, so the order never has the same seed as an augmentation.
    return hash({runSeed, static_cast<std::uint64_t>(epoch), ~std::uint64_t{0}});
}

std::uint64_t sampleSeed(std::uint64_t runSeed, std::int64_t epoch, std::int64_t index)
{
    const std::uint64_t seed = hash({runSeed, static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(index)});
    return std::max<std::uint64_t>(seed, 1);
}

} // namespace trainer::data
