#pragma once

#include "advisor/experiment/experiment.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Losses after equal time, which a screening compares. Pure functions of the values that the arms report.
namespace advisor {

/// Losses that one arm reported during training.
class LearningCurve {
public:
    /// @param seconds of each step
    /// @param losses of each step; fewer if some steps had no samples
    void add(const std::vector<double>& seconds, const std::vector<double>& losses);
    [[nodiscard]] double seconds() const { return m_seconds; } ///< training time so far
    /// Mean loss of the steps that ended in the last fifth of the horizon, at least one step; nullopt without losses.
    [[nodiscard]] std::optional<double> endOf(double horizonSeconds) const;
    [[nodiscard]] std::size_t stepsAtEndOf(double horizonSeconds) const; ///< number of steps in that mean

private:
    struct Point {
        double seconds, loss;
    };
    [[nodiscard]] std::span<const Point> lastFifth(double horizonSeconds) const;

    double m_seconds = 0;
    std::vector<Point> m_points;
};

/// Losses at equal time, one pair per seed.
class EqualTimeLosses {
public:
    /// @param losses of each arm; not finite: its training diverged
    /// @param untrained loss of the first step, before anything was learned. A loss that is not finite or exceeds ten
    /// times this value counts as ten times this value, because the size of a diverged loss has no meaning. A loss
    /// below a millionth of this value counts as a millionth: nothing is left to learn.
    /// @return Error if there is no ratio: a negative loss, or an initial loss that is not finite
    profiler::Result<void> add(std::array<double, 2> losses, double untrained);
    [[nodiscard]] std::size_t seeds() const { return m_found.seeds.size(); }
    /// With its interval as in statistics.h: each seed is one observation.
    [[nodiscard]] LossAtEqualTime result() const;
    /// Whether the change's loss is not worse.
    /// @param steps number of compared steps of each arm, see LossCheck
    [[nodiscard]] LossCheck check(std::size_t steps) const;

private:
    LossAtEqualTime m_found;
};

} // namespace advisor
