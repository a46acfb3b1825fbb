#pragma once

#include "advisor/advice.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

/// Whether a change makes the loss worse: a one-sided test for non-inferiority.
namespace advisor {

enum class LossKind {
    NotCompared, ///< there are no comparable losses
    NotWorse,    ///< shown: at most `margin` higher
    Worse,       ///< shown to be higher, and not shown to be within the margin
    NotShown,    ///< the test does not have enough power
};
/// "not compared", "not worse", "worse", "not shown".
std::string_view lossKindName(LossKind kind);

/// Margins, as shares of the baseline's loss. With the same batches, 1 %: the same as for a change of speed
/// (kMinimumEffect), and a hundred times the accumulated 32-bit rounding error of a mean over a few hundred steps.
inline constexpr double kSameBatchesMargin = 0.01;
/// At equal time, 2 %: the arms see different batches, so their losses differ by more than rounding; the margin is
/// still smaller than the effect of another seed on seconds of training.
inline constexpr double kEqualTimeMargin = 0.02;

struct LossCheck {
    enum class At { SameBatches, EqualTime };
    LossKind kind = LossKind::NotCompared;
    At at = At::SameBatches;
    double a = 0, b = 0;   ///< mean loss of each arm; every seed has the same weight
    double margin = 0;     ///< as a share of the baseline's loss
    double highest = 0;    ///< upper confidence bound of (b - a) / a
    std::size_t steps = 0; ///< number of compared steps of each arm, over all seeds; a validation counts as one
    std::size_t seeds = 0;
    bool seedsVary = true; ///< false: the training was the same with every seed, so that nothing is shown
    /// The margin in units of the loss.
    [[nodiscard]] double tolerance() const;
};

/// Non-inferiority of paired observations, each with its own seed. The change is not worse if the one-sided upper
/// confidence bound of the mean difference, Student's t at 1 - kLookAlpha, is below the margin: with three looks, the
/// error rate is at most 5 % (see statistics.h). Source: Committee for Proprietary Medicinal Products, Points to
/// consider on switching between superiority and non-inferiority, 2000, section IV.
/// @param differences (b - a) / a of each seed
struct NonInferiority {
    LossKind kind = LossKind::NotCompared;
    double highest = 0; ///< the upper confidence bound
};
NonInferiority testNonInferiority(std::span<const double> differences, double margin);

/// Losses of both arms over the same steps, seed by seed. In each start of an experiment, the arms train from equal
/// weights on the same batches in the same order: if a change only makes training faster, the losses are equal except
/// for rounding.
class SameBatchLosses {
public:
    /// Adds losses of the same steps with one seed; ignored if the arms have different numbers of losses or none.
    void addSeed(std::span<const double> a, std::span<const double> b);
    [[nodiscard]] LossCheck result() const;

private:
    std::vector<double> m_a, m_b; // mean loss per seed
    std::size_t m_steps = 0;
};

/// False if none of the changes can affect the loss by more than rounding, according to the rows of their knobs: then
/// noise in the losses does not prevent a verdict.
bool mayChangeLoss(const std::vector<Toggle>& changes);

/// False if one of the changes gives the arms different batches: then losses of the same steps cannot be compared.
bool sameBatches(const std::vector<Toggle>& changes);

} // namespace advisor
