#pragma once

#include "advisor/tuner/tuner.h"

#include <chrono>
#include <stop_token>
#include <vector>

namespace advisor {

/// The time budget of a tuning, counted from the construction of this object.
class TuneBudget {
public:
    /// @param budget  0: no limit
    explicit TuneBudget(std::chrono::seconds budget) : m_budget(budget) {}

    [[nodiscard]] double secondsSpent() const;
    /// Negative after the budget is used up; meaningless without a budget.
    [[nodiscard]] double secondsLeft() const;
    /// Time left for more trials. After a change was kept, part of the budget is reserved for measuring the total: the
    /// time that the quickest kept change took, but at least 15 % and at most half of the budget.
    [[nodiscard]] double secondsToTry(const std::vector<TuneTrial>& trials) const;
    /// True if less than a second is left.
    [[nodiscard]] bool isUsedUp() const;
    /// Why no further change is tried: the user stopped the tuning, the budget is used up, or too many changes were
    /// tried. Empty: continue.
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
