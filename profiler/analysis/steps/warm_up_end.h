#pragma once

#include <cstddef>
#include <span>

/// Finds where the warm-up of a training ends, from the durations of its steps alone. Both users of it, the analysis of
/// a trace and an experiment before its first pair, therefore mean the same by "warm".
namespace profiler::analysis {

/// A step that differs from the steady ones by less than this share is not called warm-up. Chosen: where steps hardly
/// scatter, a seventh is more than interrupts, page faults and timers add to a step.
inline constexpr double kLeastWarmUpExcess = 1.0 / 7;

struct WarmUpEnd {
    std::size_t first = 0; ///< index of the first steady step; 0: no warm-up is shown
    /// The steps from `first` on show no further change, and there are enough of them to show one.
    bool isSteady = false;
};

/// Change-point test on the logarithms of step durations: while the remaining steps contain a point before which they
/// last differently, by a margin that noise does not explain (one error in a hundred series) and by at least
/// kLeastWarmUpExcess, everything before that point is warm-up. First steps are slower while libraries are loaded,
/// kernels are chosen or compiled and the allocator grows; they are faster while launches only fill an empty queue.
///
/// The statistic is the largest standardized difference between the means before and after a point; its critical value
/// is the normal quantile with Bonferroni's correction for the number of points. Source: Csörgő and Horváth, Limit
/// Theorems in Change-Point Analysis, Wiley 1997, section 2.1. The noise is estimated from the median absolute
/// deviation of the later half, and values are clipped at five standard deviations, so that one interrupted step in the
/// middle is no change point.
/// @param durations  of successive steps, in any unit, above zero
/// @param most       steps that may be warm-up, which is a beginning: what is longer is a change of the training itself
WarmUpEnd findWarmUpEnd(std::span<const double> durations, std::size_t most);
/// At most the first half.
WarmUpEnd findWarmUpEnd(std::span<const double> durations);

} // namespace profiler::analysis
