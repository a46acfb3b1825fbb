#pragma once

#include "advisor/experiment/experiment.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Losses after equal time: what a screening compares. Pure functions of what the arms reported.
namespace advisor {

/// Losses that one arm reported while it trained.
class LearningCurve {
public:
    /// @param seconds  of each step
    /// @param losses   of each step; fewer where a step had no samples
    void add(const std::vector<double>& seconds, const std::vector<double>& losses);
    [[nodiscard]] double seconds() const { return m_seconds; } ///< trained so far
    /// Mean loss over the steps that ended in the last fifth of the horizon, one step at least; nullopt without losses.
    [[nodiscard]] std::optional<double> endOf(double horizonSeconds) const;
    [[nodiscard]] std::size_t stepsAtEndOf(double horizonSeconds) const; ///< of that mean

private:
    struct Point {
        double seconds, loss;
    };
    [[nodiscard]] std::span<const Point> lastFifth(double horizonSeconds) const;

    double m_seconds = 0;
    std::vector<Point> m_points;
};

/// Losses at equal time, one pair from each seed.
class EqualTimeLosses {
public:
    /// @param losses     of each arm; not finite: its training was lost
    /// @param untrained  loss of the first step, before anything was learnt. A loss that is no number, or beyond ten
    ///                   times this, counts as ten times this: how far a lost training went astray is no measure. One
    ///                   below a millionth of this counts as that: nothing is left to learn.
    /// @return Error where there is no ratio: a negative loss, or none that is a number before anything was learnt
    profiler::Result<void> add(std::array<double, 2> losses, double untrained);
    [[nodiscard]] std::size_t seeds() const { return m_found.seeds.size(); }
    /// With its interval, which is that of statistics.h: each seed is an observation.
    [[nodiscard]] LossAtEqualTime result() const;
    /// Whether the change's loss is not worse.
    /// @param steps  compared of each arm, see LossCheck
    [[nodiscard]] LossCheck check(std::size_t steps) const;

private:
    LossAtEqualTime m_found;
};

} // namespace advisor
