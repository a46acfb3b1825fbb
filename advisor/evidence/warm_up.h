#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/steps/one_time_work.h"

#include <string>
#include <vector>

namespace advisor {

/// Warm-up inside the recorded window, excluded from the steady state.
struct WarmUp {
    profiler::TimeRange recorded; ///< from the first to the last step; without steps, from the first to the last device
                                  ///< work
    std::size_t steps = 0;        ///< number of warm-up steps at the start
    double excessUs = 0;          ///< extra time of these steps compared with as many steady ones; 0: no steady steps
    double oneTimeUs = 0;         ///< host work that a process does once, within `recorded`
    std::vector<profiler::analysis::OneTimePart> parts; ///< the parts of that work, longest first

    /// Share of one-time work in the recorded time.
    [[nodiscard]] double share() const;
    /// "loading kernels' code 310 ms, allocating memory 12.0 ms".
    [[nodiscard]] std::string causesText() const;
    /// Its longest calls, most relevant first.
    [[nodiscard]] std::vector<profiler::SliceId> longest() const;
};
WarmUp warmUp(const RuleContext& c);

} // namespace advisor
