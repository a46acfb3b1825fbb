#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/steps/one_time_work.h"

#include <string>
#include <vector>

namespace advisor {

/// Warm-up inside the recorded window, which the steady state leaves out.
struct WarmUp {
    profiler::TimeRange recorded; ///< first to last step; without steps first to last work of a device
    std::size_t steps = 0;        ///< first steps that are warm-up
    double excessUs = 0;          ///< how much longer these take than as many steady ones; 0: no steady step
    double oneTimeUs = 0;         ///< of the host's work that a process does once, in `recorded`
    std::vector<profiler::analysis::OneTimePart> parts; ///< of that work, most time first

    /// Of the recorded time, in one-time work.
    [[nodiscard]] double share() const;
    /// "loading kernels' code 310 ms, allocating memory 12.0 ms".
    [[nodiscard]] std::string causesText() const;
    /// Its longest calls, most telling first.
    [[nodiscard]] std::vector<profiler::SliceId> longest() const;
};
WarmUp warmUp(const RuleContext& c);

} // namespace advisor
