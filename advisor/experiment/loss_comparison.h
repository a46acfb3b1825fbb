#pragma once

#include "advisor/advice.h"
#include "trainer/config/training_config.h"

#include <cstddef>
#include <span>
#include <vector>

namespace advisor {

/// Do both arms learn alike? In each start of an experiment they train from equal weights on the same batches in the
/// same order, each start with another seed. So a change that only makes the training faster gives equal losses, but
/// for rounding; and what the seed alone does to the loss shows in the baseline's own starts.
class LossComparison {
public:
    /// What is added from here on comes from another seed.
    void nextSeed();
    /// Losses of the same steps in both arms; left out when their numbers differ.
    void add(std::span<const double> a, std::span<const double> b);

    struct Result {
        double a = 0, b = 0;  ///< mean loss of each arm, each seed counting the same; 0 when no step was compared
        double tolerance = 0; ///< 0: not known, with fewer than two seeds
        bool parity = true;   ///< |a − b| ≤ tolerance; with fewer than two seeds: both are finite, or neither
        std::size_t seeds = 0;
    };
    /// A change is let pass that moves the loss no further than other seeds do. Source: Bouthillier et al., Accounting
    /// for variance in machine learning benchmarks, MLSys 2021 (a gain counts that stands out of the seeds' variance).
    /// s is the seeds' standard deviation, pooled over both arms: a harmless change spreads as the baseline does, and
    /// twice the observations know s better. An arm that spreads wider than chance has it (F at 0.95), or than twice
    /// the baseline's s, counts no more than that, so that a change that is lost from one seed does not excuse itself.
    /// s √(2 / n) is the standard error of the difference of two means over n seeds. The tolerance is the smaller of
    ///   - t(0.975, 2 n − 2) · s √(2 / n): Student's two-sample bound, which holds even when a seed's luck is not
    ///     common to both arms;
    ///   - 1.96 · s √(2 / n) + t(0.975, n − 1) · d / √n, d the standard deviation of the pairs' differences: where the
    ///     luck is common the difference is known far better than each arm, and only s has to be allowed for;
    /// and at least 10⁻⁴ a: what rounding makes of sums of floats where the seed changes nothing.
    [[nodiscard]] Result result() const;

private:
    struct Seed {
        double a = 0, b = 0; // sums
        std::size_t steps = 0;
    };
    std::vector<Seed> m_seeds;
};

/// The configuration of an arm in the n-th start of an experiment: with its own seed in the first, then with those that
/// follow it, so that both arms have the same.
config::TrainingConfig withSeedOfStart(config::TrainingConfig config, std::size_t start);

/// False when one of the changes gives the arms other batches: then their losses say nothing about each other.
bool sameBatches(const std::vector<Toggle>& changes);

} // namespace advisor
