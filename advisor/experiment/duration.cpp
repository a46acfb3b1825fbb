#include "advisor/experiment/duration.h"

#include "advisor/experiment/statistics.h"
#include "advisor/experiment/turn_order.h"
#include "advisor/experiment/warm_up.h"

#include <algorithm>
#include <cmath>

namespace advisor {

namespace {

std::int64_t stepsAhead(const ExperimentPlan& plan)
{
    return plan.baseline[config::key::workers] * plan.baseline[config::key::prefetchFactor] + 1;
}

} // namespace

double estimatedSeconds(const ExperimentPlan& plan, double unitSeconds, std::size_t pairs)
{
    // A warm-up takes about four chunks of a third of a second, or of a few steps if steps are long.
    constexpr double kWarmUpUnits = 12, kWarmUpSeconds = 1.2;
    const bool steps = plan.measure == "steps";
    // The change's values are unknown, so those of the baseline are used for both arms.
    const double turn = unitSeconds > 0
                            ? unitSeconds * static_cast<double>(unitsPerTurn(plan.measure, unitSeconds, plan.turn) +
                                                                (steps ? stepsAhead(plan) : 0))
                            : std::chrono::duration<double>(plan.turn).count();
    const double start = kStartSeconds + 2 * std::max(kWarmUpSeconds, unitSeconds * (steps ? kWarmUpUnits : 2));
    const auto n = static_cast<double>(pairs);
    return n * 2 * turn + std::ceil(n / static_cast<double>(kPairsPerStart)) * start;
}

double estimatedMemorySeconds(const ExperimentPlan& plan, double stepSeconds, std::size_t pairs)
{
    const double process =
        kStartSeconds / 2 + stepSeconds * static_cast<double>(stepsAhead(plan) + kMemoryWarmUpSteps + kMemorySteps);
    return 2 * process * static_cast<double>(pairs > 0 ? pairs : kLooks.front() / kPairsPerStart);
}

double horizonSeconds(const ExperimentPlan& plan, double stepSeconds, double trainingSeconds, double overheadSeconds)
{
    // With fewer steps, training has not learned anything that could be compared.
    constexpr double kFewestSteps = 20;
    double seconds = std::chrono::duration<double>(plan.horizon).count();
    if (seconds <= 0) {
        seconds = std::chrono::duration<double>(kHorizon).count();
        if (trainingSeconds > 0)
            seconds = std::min(seconds, trainingSeconds);
        // Leaves time for a second look within the budget.
        if (const auto budget = static_cast<double>(plan.budget.count()); budget > 0)
            seconds =
                std::min(seconds, (budget / static_cast<double>(kLooks[1] / kPairsPerStart) - overheadSeconds) / 2);
    }
    return std::max(seconds, kFewestSteps * stepSeconds);
}

std::chrono::seconds expectedDuration(const ExperimentPlan& plan, double stepUs, double validationUs)
{
    const double step = std::max(stepUs, 0.0) * 1e-6;
    // Most experiments end at the first or second look.
    double expected = plan.objective == Objective::Memory ? estimatedMemorySeconds(plan, step, 0)
                                                        : estimatedSeconds(plan, step, kLooks[1]);
    if (isScreening(plan)) {
        const double training = step * static_cast<double>(plan.baseline[config::key::steps]);
        // Both arms run a validation at the end of a seed's time, and one more for planning.
        const double validation = std::max(validationUs, 0.0) * 1e-6;
        const double overhead = kStartSeconds + 2 * validation;
        const double seed = 2 * horizonSeconds(plan, step, training, overhead) + overhead;
        expected = static_cast<double>(kLooks[1] / kPairsPerStart) * seed + kStartSeconds + validation;
    }
    const auto seconds = std::chrono::seconds(std::llround(expected));
    return plan.budget.count() > 0 ? std::min(seconds, plan.budget) : seconds;
}

} // namespace advisor
