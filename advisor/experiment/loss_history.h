#pragma once

#include "trainer/config/protocol.h"

#include <array>
#include <cstdint>
#include <vector>

/// The losses of both arms over the whole experiment, for charts. No verdict uses them.
namespace advisor {

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
