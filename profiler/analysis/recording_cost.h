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
};

/// Nothing where either kind has fewer than five steady steps: a run that records all steps, or none.
std::optional<RecordingCost> recordingCost(const std::vector<Step>& steps);

} // namespace profiler::analysis
