#pragma once

#include "advisor/tuner/tuner.h"

#include <chrono>
#include <stop_token>
#include <vector>

namespace advisor {

/// The time of a tuning, which counts from the construction of this object.
class TuneBudget {
public:
    /// @param budget  0: no limit
    explicit TuneBudget(std::chrono::seconds budget) : m_budget(budget) {}

    [[nodiscard]] double secondsSpent() const;
    /// Negative once the budget is used up, and without one.
    [[nodiscard]] double secondsLeft() const;
    /// For more trials. Once a change was kept, a part of the budget is left for the measurement of the whole: what the
    /// quickest of the kept changes took, at least 15 % and at most half of the budget.
    [[nodiscard]] double secondsToTry(const std::vector<TuneTrial>& trials) const;
    /// Less than a second is left.
    [[nodiscard]] bool isUsedUp() const;
    /// Why no further change is tried: the user stopped it, the budget is used up, or too many were tried. Empty: go
    /// on.
    [[nodiscard]] profiler::Message endedBy(const std::vector<TuneTrial>& trials, const std::stop_token& stop) const;
    /// The limit of an experiment that may take `seconds`; 0 without a budget.
    [[nodiscard]] std::chrono::seconds limit(double seconds) const;

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] profiler::Message usedUp(const std::vector<TuneTrial>& trials) const;

    const std::chrono::seconds m_budget;
    const Clock::time_point m_begin = Clock::now();
};

} // namespace advisor
