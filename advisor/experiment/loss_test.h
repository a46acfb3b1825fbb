#pragma once

#include "advisor/advice.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

/// Whether a change makes the loss worse: a one-sided test for non-inferiority.
namespace advisor {

enum class LossKind {
    NotCompared, ///< there are no losses that could be compared
    NotWorse,    ///< shown: at most `margin` higher
    Worse,       ///< shown: higher, and not shown to stay within the margin
    NotShown,    ///< the test lacks power
};
/// "not compared", "not worse", "worse", "not shown".
std::string_view lossKindName(LossKind kind);

/// Margins, as shares of the baseline's loss.
/// Over the same batches, one percent: what a change of speed has to clear as well (kWorth), and a hundred times what
/// the rounding of 32-bit floats adds up to in a mean over a few hundred steps.
inline constexpr double kSameBatchesMargin = 0.01;
/// At equal time, two percent: the arms see different batches, so that their losses differ by more than rounding; the
/// margin is still less than what another seed does to a training of seconds.
inline constexpr double kEqualTimeMargin = 0.02;

struct LossCheck {
    enum class At { SameBatches, EqualTime };
    LossKind kind = LossKind::NotCompared;
    At at = At::SameBatches;
    double a = 0, b = 0;   ///< mean loss of each arm, every seed counting the same
    double margin = 0;     ///< share of the baseline's loss
    double highest = 0;    ///< upper bound for (b - a) / a that the test gives
    std::size_t steps = 0; ///< compared of each arm, over all seeds; a validation counts as one
    std::size_t seeds = 0;
    /// The margin in units of the loss.
    [[nodiscard]] double tolerance() const;
};

/// Non-inferiority of paired observations, each from its own seed.
/// The change is not worse when the one-sided upper confidence bound of the mean difference, Student's t at
/// 1 - kLookAlpha, stays below the margin: at three looks the error is at most one in twenty (see statistics.h).
/// Source: Committee for Proprietary Medicinal Products, Points to consider on switching between superiority and
/// non-inferiority, 2000, section IV.
/// @param differences  (b - a) / a of each seed
struct NonInferiority {
    LossKind kind = LossKind::NotCompared;
    double highest = 0; ///< the upper bound
};
NonInferiority testNonInferiority(std::span<const double> differences, double margin);

/// Losses of both arms over the same steps, seed by seed. In each start of an experiment the arms train from equal
/// weights on the same batches in the same order: a change that only makes the training faster gives equal losses but
/// for rounding.
class SameBatchLosses {
public:
    /// Losses of the same steps from one seed; not used when their numbers differ or there are none.
    void addSeed(std::span<const double> a, std::span<const double> b);
    [[nodiscard]] LossCheck result() const;

private:
    std::vector<double> m_a, m_b; // mean loss from each seed
    std::size_t m_steps = 0;
};

/// False when none of the changes can affect the loss by more than rounding, by the rows of their knobs: then noise of
/// the losses prevents no verdict.
bool mayChangeLoss(const std::vector<Toggle>& changes);

/// False when one of the changes gives the arms other batches: then losses of the same steps say nothing about each
/// other.
bool sameBatches(const std::vector<Toggle>& changes);

} // namespace advisor
