#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace trainer {

/// Options of all schedules; each uses a subset.
struct ScheduleOptions {
    double learningRate = 0.1;    ///< the highest
    std::int64_t totalSteps = 1;  ///< of the whole training
    std::int64_t warmupSteps = 0; ///< number of first steps over which the rate rises linearly
    double finalShare = 0;        ///< rate at the end, as a fraction of the highest
    std::int64_t stepSize = 1;    ///< steps between two reductions
    double gamma = 0.1;           ///< factor of a reduction
    std::int64_t cycleSteps = 1;  ///< steps from the lowest to the highest rate
    double lowestShare = 0.1;     ///< lowest rate of a cycle, as a fraction of the highest
    double cycleShare = 0.9;      ///< one_cycle: length of the cycle, as a fraction of the training
    double rangeLowest = 1e-6;    ///< range_test: the first rate
};

/// How the learning rate changes from step to step. A file trainer/schedules/<id>.cpp defines `ScheduleKind <id>()`.
struct ScheduleKind {
    std::string_view title, doc; ///< for users
    /// The rate of a step, counted from 0 after the warm-up; `options.totalSteps` is the number of steps after the
    /// warm-up. A pure function: a resumed run needs no state of it.
    double (*rate)(std::int64_t step, const ScheduleOptions& options) = nullptr;
    bool hasWarmup = true; ///< false: starts low by itself and ignores warmupSteps
};

/// The rate of step `step` of the training, from 0, including warm-up: the first `warmupSteps` steps have 1/n, 2/n … of
/// the highest rate.
inline double learningRateAt(const ScheduleKind& kind, std::int64_t step, const ScheduleOptions& options)
{
    if (!kind.hasWarmup || options.warmupSteps == 0)
        return kind.rate(step, options);
    if (step < options.warmupSteps)
        return options.learningRate * static_cast<double>(step + 1) / static_cast<double>(options.warmupSteps);
    ScheduleOptions rest = options;
    rest.totalSteps = std::max<std::int64_t>(options.totalSteps - options.warmupSteps, 1);
    return kind.rate(step - options.warmupSteps, rest);
}

} // namespace trainer
