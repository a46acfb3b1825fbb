#pragma once

#include "profiler/analysis/steps/steps.h"

#include <optional>
#include <vector>

namespace profiler::analysis {

/// The overhead of recording operators, measured in the run itself: steady steps with operators compared with those
/// without.
struct RecordingCost {
    double ratio = 1;                   ///< ratio of the geometric means of the step times
    double low = 1, high = 1;           ///< about 95 %: two standard errors of the difference of the log means
    std::int64_t with = 0, without = 0; ///< number of steps
    double spread = 0; ///< standard deviation of the logarithms of step times of one kind: 0.1 is about 10 %

    /// Share of the steps that recorded operators, [0, 1].
    [[nodiscard]] double recordedShare() const;
    /// The time that recording operators added to the run, relative to the time without it.
    [[nodiscard]] double addedToRun() const { return (ratio - 1) * recordedShare(); }
};

/// Half-width of the interval above which a cost is called noisy. Chosen: overheads are a few percent of a step, and an
/// interval wider than ±2 % cannot distinguish one level from the next.
inline constexpr double kNoisyHalfWidth = 0.02;
/// CPU share of other processes above which a cost is called noisy. Chosen: 10 % of the machine lengthens steps by as
/// much as recording does.
inline constexpr double kNoisyOtherLoad = 0.1;
/// @param otherLoad  share of all cores that other processes used during the run, [0, 1]; empty: unknown
bool isNoisy(const RecordingCost& cost, std::optional<double> otherLoad = {});

/// Empty if there are fewer than five steady steps of either kind, for example in a run that records all steps or none.
std::optional<RecordingCost> recordingCost(const std::vector<Step>& steps);

} // namespace profiler::analysis
