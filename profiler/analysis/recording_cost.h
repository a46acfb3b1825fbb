#pragma once

#include "profiler/analysis/steps.h"

#include <optional>
#include <vector>

namespace profiler::analysis {

/// What recording operators cost a run, as it measured itself: its steady steps with operators against those without.
struct RecordingCost {
    double ratio = 1;                   ///< of the steps' times, geometric means
    double low = 1, high = 1;           ///< about 95 %: two standard errors of the difference of the logarithms' means
    std::int64_t with = 0, without = 0; ///< steps
    double spread = 0; ///< standard deviation of the logarithms of the times of steps of one kind: 0.1 is about 10 %

    /// Share of the steps that recorded operators, [0, 1].
    [[nodiscard]] double recordedShare() const;
    /// What recording operators added to the time of the run, as a share of the time without it.
    [[nodiscard]] double addedToRun() const { return (ratio - 1) * recordedShare(); }
};

/// Half of the interval above which a cost is called noisy. Chosen: costs are a few percent of a step, and an interval
/// wider than ±2 % does not tell one level from the next.
inline constexpr double kNoisyHalfWidth = 0.02;
/// Share of the processor that other processes may use before a cost is called noisy. Chosen: a tenth of the machine
/// lengthens steps by as much as recording does.
inline constexpr double kNoisyOtherLoad = 0.1;
/// @param otherLoad  share of all cores that other processes used meanwhile, [0, 1]; none: not known
bool isNoisy(const RecordingCost& cost, std::optional<double> otherLoad = {});

/// Nothing where either kind has fewer than five steady steps: a run that records all steps, or none.
std::optional<RecordingCost> recordingCost(const std::vector<Step>& steps);

} // namespace profiler::analysis
