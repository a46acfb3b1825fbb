#pragma once

#include "profiler/analysis/steps/steps.h"

#include <cstdint>
#include <string>
#include <vector>

namespace profiler::analysis {

/// What a process does between its steps: validation, generation, checkpoints.
struct BetweenSteps {
    struct Phase {
        std::string name; ///< "validation"
        std::int64_t count = 0;
        Nanoseconds time{};
    };
    Nanoseconds span{};        ///< from the start of the first step to the end of the last one
    Nanoseconds time{};        ///< the part of it outside of all steps
    std::vector<Phase> phases; ///< what is known of `time`, longest first
    Nanoseconds other{};       ///< the rest of `time`

    /// The share of `time` in `span`, [0, 1].
    [[nodiscard]] double share() const
    {
        return span.count() > 0 ? static_cast<double>(time.count()) / static_cast<double>(span.count()) : 0;
    }
};

/// Below this share, the time between steps explains nothing about a run. Chosen.
inline constexpr double kLeastBetweenSteps = 0.02;

/// Phases are listed only if the share is at least kLeastBetweenSteps. The time of nested phases counts for the
/// outermost one. O(phases · log).
BetweenSteps betweenSteps(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
