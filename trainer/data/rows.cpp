#include "trainer/data/rows.h"

#include "trainer/data/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainer::data {

namespace {
// The split does not depend on the run's seed, because runs are compared by their validation.
constexpr std::uint64_t kSeed = 0x73706c6974;
} // namespace

RowSplit splitRows(std::int64_t rows, double share)
{
    RowSplit split;
    split.train.resize(static_cast<std::size_t>(rows));
    std::iota(split.train.begin(), split.train.end(), std::int64_t{0});
    Random random(kSeed);
    shuffle(std::span(split.train), random);
    const auto validating =
        std::min<std::int64_t>(std::llround(static_cast<double>(rows) * share), std::max<std::int64_t>(rows - 1, 0));
    split.validation.assign(split.train.end() - validating, split.train.end());
    split.train.resize(static_cast<std::size_t>(rows - validating));
    // In the file's order: without shuffling, neighbouring rows are read together.
    std::sort(split.train.begin(), split.train.end());
    std::sort(split.validation.begin(), split.validation.end());
    return split;
}

} // namespace trainer::data
