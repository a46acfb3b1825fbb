#pragma once

#include "profiler/analysis/job/rank_digest.h"

#include <cstdint>
#include <span>
#include <vector>

namespace profiler::analysis {

/// The steps that ranks have in common.
struct JobSteps {
    std::vector<std::int64_t> numbers;          ///< of the analysed steps, ascending
    std::vector<std::vector<std::int32_t>> own; ///< by rank and analysed step: index into its steps; −1: not recorded
    std::vector<std::vector<std::int32_t>> at;  ///< by rank and its step: analysed step; −1: not analysed

    [[nodiscard]] std::size_t count() const { return numbers.size(); }
};
/// Steady steps that the largest number of ranks recorded.
JobSteps jobSteps(std::span<const RankDigest> ranks);

/// Lateness of each rank in each analysed step, in µs: how long after the median of the other ranks it arrives at
/// collectives, in the group in which it is latest, limited to the time by which it delays them. NaN where it did not
/// record the step or nothing matches.
using Lateness = std::vector<std::vector<double>>;

/// The middle value of the finite ones; of an even number the lower one. NaN if there are none.
double middle(std::vector<double> values);

} // namespace profiler::analysis
