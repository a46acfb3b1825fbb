#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The warm-up of a training: its end, found from the durations of steps alone, and the work that a process does only
/// once. The analysis of a trace and the experiments both use findWarmUpEnd(), so "warm" means the same in both.
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

/// Sets Step::warmup, and Step::partial of the last step, as described in steps.h.
/// @param epochStart   for each step: it is the first of an epoch
/// @param interrupted  for each step: it contains a validation or starts workers
/// @param inTheMiddle  the first step is not the first of the run, because a profiler started there
void markWarmup(std::vector<Step>& steps, const std::vector<bool>& epochStart, const std::vector<bool>& interrupted,
                bool inTheMiddle = false);

/// Sets Step::warmup of further first steps, at most half of all steps, in which the host does one-time work
/// (oneTimeWork()). Together with the steps already marked, they form the warm-up. A step belongs to it if this
/// work takes at least kLeastWarmUpExcess of a later step. This complements the test on durations, which needs many
/// steady steps to detect a change.
void markOneTimeWork(const Trace& trace, std::vector<Step>& steps);

/// Work that a process does once. It makes the first steps of a recording slow and is irrelevant for later steps.
enum class OneTimeKind {
    CodeLoading, ///< loading of kernel code at the first launch (lazy module loading)
    Allocation,  ///< memory that the allocator requests from the driver while it grows
    Compilation, ///< torch.compile
    FirstLaunch, ///< a launch that takes many times longer than every later one
    Autotuning   ///< a convolution that tries the algorithms of its library
};

/// The name of a kind for users: "loading kernel code".
std::string_view oneTimeText(OneTimeKind kind);

struct OneTimePart {
    OneTimeKind kind{};
    Intervals where;    ///< on the host threads; the parts do not overlap
    Nanoseconds time{}; ///< total(where)
    std::int64_t calls = 0;
    std::vector<SliceId> longest; ///< at most ten, longest first
};

/// The host's one-time work in the first half of `window`, longest first. If a kind takes at least a tenth as long in
/// the second half, it recurs and is not one-time work. O(slices of runtime calls and of the named operators).
std::vector<OneTimePart> oneTimeWork(const Trace& trace, TimeRange window);

/// The union of all parts.
Intervals oneTimeIntervals(const std::vector<OneTimePart>& parts);

} // namespace profiler::analysis
