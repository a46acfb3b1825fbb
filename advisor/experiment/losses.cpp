#include "advisor/experiment/losses.h"

#include "advisor/experiment/statistics.h"
#include "advisor/knob_changes.h"
#include "advisor/prediction/confidence.h"
#include "trainer/config/training_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace advisor {

namespace {

double meanOf(std::span<const double> values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

std::string_view lossKindName(LossKind kind)
{
    switch (kind) {
    case LossKind::NotWorse:
        return "not worse";
    case LossKind::Worse:
        return "worse";
    case LossKind::NotShown:
        return "not shown";
    case LossKind::NotCompared:
        break;
    }
    return "not compared";
}

double LossCheck::tolerance() const
{
    return margin * std::abs(a);
}

NonInferiority testNonInferiority(std::span<const double> differences, double margin)
{
    NonInferiority test;
    if (differences.empty())
        return test;
    // The change's training diverged with a seed with which the baseline learned.
    if (std::any_of(differences.begin(), differences.end(), [](double d) { return !std::isfinite(d); })) {
        test.kind = LossKind::Worse;
        test.highest = std::numeric_limits<double>::infinity();
        return test;
    }
    test.kind = LossKind::NotShown;
    test.highest = std::numeric_limits<double>::infinity();
    if (differences.size() < 2)
        return test;
    const auto n = static_cast<double>(differences.size());
    const double mean = meanOf(differences);
    double squares = 0;
    for (const double difference : differences)
        squares += (difference - mean) * (difference - mean);
    const double reach = studentTQuantile(1 - kLookAlpha, n - 1) * std::sqrt(squares / (n - 1) / n);
    test.highest = mean + reach;
    if (test.highest <= margin)
        test.kind = LossKind::NotWorse;
    else if (mean - reach > 0)
        test.kind = LossKind::Worse;
    return test;
}

void SameBatchLosses::addSeed(std::span<const double> a, std::span<const double> b)
{
    if (a.size() != b.size() || a.empty())
        return;
    m_a.push_back(meanOf(a));
    m_b.push_back(meanOf(b));
    m_steps += a.size();
}

LossCheck SameBatchLosses::result() const
{
    LossCheck check;
    check.at = LossCheck::At::SameBatches;
    check.margin = kSameBatchesMargin;
    check.steps = m_steps;
    check.seeds = m_a.size();
    if (m_a.empty())
        return check;
    check.a = meanOf(m_a);
    check.b = meanOf(m_b);
    // If the baseline itself diverged, there is nothing to compare with.
    if (!std::all_of(m_a.begin(), m_a.end(), [](double loss) { return std::isfinite(loss); }))
        return check;
    // Relative to the mean, so that a seed whose loss happens to be near zero does not dominate.
    std::vector<double> differences;
    for (std::size_t i = 0; i < m_a.size(); ++i)
        differences.push_back(m_a[i] == m_b[i] ? 0 : (m_b[i] - m_a[i]) / std::abs(check.a));
    const NonInferiority test = testNonInferiority(differences, check.margin);
    check.kind = test.kind;
    check.highest = test.highest;
    return check;
}

bool mayChangeLoss(const std::vector<Toggle>& changes)
{
    return std::any_of(changes.begin(), changes.end(), [](const Toggle& change) {
        const config::Knob* knob = config::findKnob(change.key);
        return !knob || knob->mayChangeLoss;
    });
}

bool sameBatches(const std::vector<Toggle>& changes)
{
    // A weight update uses the same samples, in parts of another size.
    const bool onlyInParts = keepTheBatch(changes);
    return std::none_of(changes.begin(), changes.end(), [&](const Toggle& change) {
        if (onlyInParts && isBatchFactor(change.key))
            return false;
        const config::Knob* knob = config::findKnob(change.key);
        return knob && config::changesBatches(*knob, change.from, change.to);
    });
}

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
