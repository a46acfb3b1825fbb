#pragma once

#include "advisor/advice.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace advisor {

/// Do both arms learn alike? They start from equal weights and train the same batches in the same order, so that a
/// change which only makes the training faster gives equal losses, but for rounding.
class LossComparison {
public:
    /// Losses of the same steps in both arms; left out when their numbers differ.
    void add(std::span<const double> a, std::span<const double> b);

    struct Result {
        double a = 0, b = 0; ///< mean loss of each arm; 0 when no step was compared
        double tolerance = 0;
        bool parity = true; ///< |a − b| ≤ tolerance; also when no step was compared
        std::size_t steps = 0;
    };
    /// tolerance = max(2 % of a, 2 √((s_a² + s_b²) / n)). The first is about what reduced precision does to a loss in
    /// its first steps. The second is two standard errors of the difference of the means: rounding makes the weights of
    /// both arms drift apart, after which the losses of a step differ by their noise. That noise s is taken from
    /// successive differences within a turn, s² = mean((x_i+1 − x_i)²) / 2 (von Neumann 1941), so that the falling of
    /// the loss does not count as noise.
    [[nodiscard]] Result result() const;

private:
    struct Arm {
        double sum = 0, squaredDifferences = 0;
    };
    void add(Arm& arm, std::span<const double> losses);

    std::array<Arm, 2> m_arms;
    std::size_t m_steps = 0, m_differences = 0;
};

/// False when one of the changes gives the arms other batches: then their losses say nothing about each other.
bool sameBatches(const std::vector<Toggle>& changes);

} // namespace advisor
