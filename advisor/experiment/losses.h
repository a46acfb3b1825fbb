#pragma once

#include "advisor/advice.h"
#include "trainer/config/protocol.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The losses of both arms: whether a change makes the loss worse (a one-sided test for non-inferiority), and their
/// course for charts.
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

// The losses of both arms over the whole experiment, for charts. No verdict uses them.

/// A mean over a few consecutive steps.
struct LossPoint {
    double seconds = 0; ///< training time of the measured steps since the start of the arm, at the end of these steps
    double samples = 0; ///< the same in samples
    double loss = 0;
    friend bool operator==(const LossPoint&, const LossPoint&) = default;
};

/// What both arms learned with one seed.
using LossesOfSeed = std::array<std::vector<LossPoint>, 2>;

/// Collects the losses of each measured turn. Points become means when there are many, so that a seed needs bounded
/// memory.
class LossHistory {
public:
    static constexpr std::size_t kMostPoints = 128; ///< per arm and seed: more than a chart can show

    /// Turns without a loss for each step are ignored.
    void add(std::size_t arm, const config::protocol::TurnResult& turn);
    /// Forgets the turns since the last seed: they are measured again.
    void restart() { m_now = {}; }
    /// The next turns belong to another seed. Ignores a seed for which an arm has no losses.
    void endSeed();
    [[nodiscard]] const std::vector<LossesOfSeed>& seeds() const { return m_seeds; }

private:
    struct Arm {
        std::vector<LossPoint> points;
        std::size_t stepsPerPoint = 1;
        std::size_t steps = 0; ///< in `sum`, not yet a point
        double sum = 0, seconds = 0, samples = 0;
    };
    static void halve(Arm& arm);

    std::array<Arm, 2> m_now;
    std::vector<LossesOfSeed> m_seeds;
};

} // namespace advisor
