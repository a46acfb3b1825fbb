#pragma once

#include "advisor/experiment/experiment.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/// What an experiment says that is judged by loss at equal time. Pure.
namespace advisor {

/// The losses that one arm has come to while it trained.
class LearningCurve {
public:
    explicit LearningCurve(double horizonSeconds) : m_horizon(horizonSeconds) {}
    /// @param seconds  of each step
    /// @param losses   of each step; fewer where a step had no samples
    void add(const std::vector<double>& seconds, const std::vector<double>& losses);
    [[nodiscard]] double seconds() const { return m_seconds; } ///< trained so far
    /// Mean loss over the steps that ended in the last fifth of the horizon, one step at least; none: no loss was told.
    [[nodiscard]] std::optional<double> end() const;

private:
    struct Point {
        double seconds, loss;
    };
    double m_horizon, m_seconds = 0;
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
    /// With its interval, which is statistics.h's: each seed is an observation.
    [[nodiscard]] LossAtEqualTime result() const;

private:
    LossAtEqualTime m_found;
};

/// One sentence for a verdict on the loss at equal time.
std::string explainLearning(const ExperimentResult& result, bool outOfTime);

} // namespace advisor
