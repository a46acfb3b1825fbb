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
};

/// Whether the interval is wide or the machine was busy.
/// @param otherLoad  share of all cores that other processes used during the run, [0, 1]; empty: unknown
bool isNoisy(const RecordingCost& cost, std::optional<double> otherLoad = {});

/// Empty if there are fewer than five steady steps of either kind, for example in a run that records all steps or none.
std::optional<RecordingCost> recordingCost(const std::vector<Step>& steps);

} // namespace profiler::analysis
