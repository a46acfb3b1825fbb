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
    /// For trials. A part of the budget is kept for the measurement of the whole, once something was kept.
    [[nodiscard]] double secondsToTry(bool hasKept) const;
    /// Less than a second is left.
    [[nodiscard]] bool isUsedUp() const;
    /// Why no further change is tried: the user stopped it, the budget is used up, or too many were tried. Empty: go
    /// on.
    [[nodiscard]] profiler::Message endedBy(const std::vector<TuneTrial>& trials, bool hasKept,
                                            const std::stop_token& stop) const;
    /// The limit of an experiment that may take `seconds`; 0 without a budget.
    [[nodiscard]] std::chrono::seconds limit(double seconds) const;

private:
    using Clock = std::chrono::steady_clock;
    [[nodiscard]] profiler::Message usedUp(const std::vector<TuneTrial>& trials) const;

    const std::chrono::seconds m_budget;
    const Clock::time_point m_begin = Clock::now();
};

} // namespace advisor
