#include "advisor/experiment/loss_history.h"

#include <utility>

namespace advisor {

void LossHistory::add(std::size_t arm, const config::protocol::TurnResult& turn)
{
    if (turn.losses.empty() || turn.losses.size() != turn.seconds.size())
        return;
    Arm& to = m_now[arm];
    const double samplesPerStep = static_cast<double>(turn.samples) / static_cast<double>(turn.losses.size());
    for (std::size_t i = 0; i < turn.losses.size(); ++i) {
        to.seconds += turn.seconds[i];
        to.samples += samplesPerStep;
        to.sum += turn.losses[i];
        if (++to.steps < to.stepsPerPoint)
            continue;
        to.points.push_back({to.seconds, to.samples, to.sum / static_cast<double>(to.steps)});
        to.sum = 0;
        to.steps = 0;
        if (to.points.size() > kMostPoints)
            halve(to);
    }
}

/// Joins pairs of points. Their number is odd; the last one is put back into the sum.
void LossHistory::halve(Arm& arm)
{
    const LossPoint last = arm.points.back();
    arm.sum = last.loss * static_cast<double>(arm.stepsPerPoint);
    arm.steps = arm.stepsPerPoint;
    std::vector<LossPoint> joined;
    for (std::size_t i = 0; i + 1 < arm.points.size(); i += 2)
        joined.push_back(
            {arm.points[i + 1].seconds, arm.points[i + 1].samples, (arm.points[i].loss + arm.points[i + 1].loss) / 2});
    arm.points = std::move(joined);
    arm.stepsPerPoint *= 2;
}

void LossHistory::endSeed()
{
    if (!m_now[0].points.empty() && !m_now[1].points.empty())
        m_seeds.push_back({std::move(m_now[0].points), std::move(m_now[1].points)});
    m_now = {};
}

} // namespace advisor
