#pragma once

#include <cstddef>
#include <span>

/// Finds the end of a training's warm-up from the durations of its steps alone. The analysis of a trace and the
/// experiments both use it, so "warm" means the same in both.
namespace profiler::analysis {

/// A step that differs from the steady ones by less than this share is not called warm-up. Chosen: if steps are very
/// regular, a seventh is more than interrupts, page faults and timers add to a step.
inline constexpr double kLeastWarmUpExcess = 1.0 / 7;

struct WarmUpEnd {
    std::size_t first = 0; ///< index of the first steady step; 0: no warm-up was detected
    /// The steps from `first` show no further change, and there are enough of them to detect one.
    bool isSteady = false;
};

/// Change-point test on the logarithms of step durations. While the remaining steps contain a point at which their
/// durations change by more than noise explains (one error in a hundred series) and by at least kLeastWarmUpExcess,
/// everything before that point is warm-up. First steps are slower while libraries are loaded, kernels are chosen or
/// compiled and the allocator grows; they are faster while launches only fill an empty queue.
///
/// The statistic is the largest standardized difference between the means before and after a point. Its critical value
/// is the normal quantile with Bonferroni's correction for the number of points. Source: Csörgő and Horváth, Limit
/// Theorems in Change-Point Analysis, Wiley 1997, section 2.1. The noise is estimated from the median absolute
/// deviation of the later half. Values are clipped at five standard deviations, so that one interrupted step in the
/// middle is not a change point.
/// @param durations  of successive steps, in any unit, above zero
/// @param most       maximum number of warm-up steps; a later change is a change of the training itself
WarmUpEnd findWarmUpEnd(std::span<const double> durations, std::size_t most);
/// At most the first half of the steps can be warm-up.
WarmUpEnd findWarmUpEnd(std::span<const double> durations);

} // namespace profiler::analysis
