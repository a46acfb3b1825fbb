#pragma once

#include <cstdint>
#include <string_view>

namespace trainer {

/// The numbers of all schedules; each takes what it uses.
struct ScheduleOptions {
    double learningRate = 0.1;    ///< the highest
    std::int64_t totalSteps = 1;  ///< of the whole training
    std::int64_t warmupSteps = 0; ///< the rate rises evenly over the first so many steps
    double finalShare = 0;        ///< rate at the end, as a share of the highest
    std::int64_t stepSize = 1;    ///< steps between two falls
    double gamma = 0.1;           ///< factor of a fall
    std::int64_t cycleSteps = 1;  ///< steps from the lowest to the highest rate
    double lowestShare = 0.1;     ///< rate at the bottom of a cycle, as a share of the highest
    double cycleShare = 0.9;      ///< one_cycle: length of the cycle, as a share of the training
    double rangeLowest = 1e-6;    ///< range_test: the first rate
};

/// How the learning rate changes from step to step. A file trainer/schedules/<id>.cpp defines `ScheduleKind <id>()`.
struct ScheduleKind {
    std::string_view title, doc; ///< for users
    /// The rate of a step, counted from 0 after the warm-up; `options.totalSteps` is what is left for it. A pure
    /// function: a run that is resumed needs no state of it.
    double (*rate)(std::int64_t step, const ScheduleOptions& options) = nullptr;
    bool hasWarmup = true; ///< false: begins low by itself, warmupSteps is not used
};

/// The rate of step `step` of the training, from 0, with warm-up: the first `warmupSteps` steps have 1/n, 2/n … of the
/// highest rate.
double learningRateAt(const ScheduleKind& kind, std::int64_t step, const ScheduleOptions& options);

} // namespace trainer
