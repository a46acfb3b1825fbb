#include "advisor/experiment/timing.h"

#include "advisor/experiment/statistics.h"
#include "profiler/analysis/steps/warm_up.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace advisor {

namespace {

// Steps of the first turn. Chosen: the first step allocates and tunes; two more show how long a step takes.
constexpr std::int64_t kFirstSteps = 3;
// Seconds of each later turn. Chosen: short compared with the time limit, and long compared with the wake-up of a
// process.
constexpr double kChunkSeconds = 0.3;
// With fewer units (for example, epochs of minutes each), the last two are compared instead of a change-point test.
constexpr std::size_t kFewestToTest = 6;
// Maximum ratio of the last two. Chosen: epochs on an idle machine vary by a few percent, and a warm-up by more than 10
// %.
constexpr double kSteady = 1.1;
// The duration of a step or an epoch is not known yet.
constexpr std::chrono::seconds kFirstEpochPatience = std::chrono::hours(24);

std::chrono::seconds firstPatience(const std::string& what)
{
    return what == "steps" ? kFirstPatience : kFirstEpochPatience;
}

/// The measurements of one arm so far.
struct Progress {
    std::vector<double> seconds; // of each unit
    std::vector<double> chunks;  // mean of each turn
    std::int64_t firstPeak = 0, peak = 0;

    [[nodiscard]] bool isSteady() const
    {
        if (chunks.size() < 2)
            return false;
        if (seconds.size() < kFewestToTest) {
            const double before = chunks[chunks.size() - 2], now = chunks.back();
            return now < before * kSteady && before < now * kSteady;
        }
        if (profiler::analysis::findWarmUpEnd(seconds).isSteady)
            return true;
        // After a long warm-up, or if the load of the machine changed: the second half decides.
        const auto later = std::span(seconds).subspan(seconds.size() / 2);
        const auto end = profiler::analysis::findWarmUpEnd(later);
        return end.isSteady && end.first == 0;
    }
    [[nodiscard]] std::int64_t slow() const
    {
        return static_cast<std::int64_t>(profiler::analysis::findWarmUpEnd(seconds).first);
    }
};

std::int64_t stepsAhead(const ExperimentPlan& plan)
{
    return plan.baseline[config::key::workers] * plan.baseline[config::key::prefetchFactor] + 1;
}

} // namespace

Outcome<std::vector<WarmUp>> warmUp(std::span<Arm* const> arms, const std::string& what, std::int64_t drop,
                                    const RunLimits& limits, std::int64_t fewest)
{
    const std::int64_t least = what == "steps" ? kFirstSteps : 1;
    std::int64_t count = least;
    std::vector<Progress> progress(arms.size());
    std::vector<WarmUp> result(arms.size());
    for (;;) {
        double slowest = 0;
        for (std::size_t arm = 0; arm < arms.size(); ++arm) {
            WarmUp& warm = result[arm];
            const auto work = static_cast<double>(count + drop);
            const auto begin = RunLimits::Clock::now();
            const auto turn =
                arms[arm]->take({what, drop, count}, limits,
                                warm.turnSeconds > 0 ? patienceFor(warm.turnSeconds * work) : firstPatience(what));
            if (!turn)
                return tl::unexpected(turn.error());
            const std::chrono::duration<double> whole = RunLimits::Clock::now() - begin;
            Progress& seen = progress[arm];
            seen.seconds.insert(seen.seconds.end(), turn->seconds.begin(), turn->seconds.end());
            warm.unitSeconds = std::accumulate(turn->seconds.begin(), turn->seconds.end(), 0.0) /
                               static_cast<double>(turn->seconds.size());
            warm.turnSeconds = what == "steps" ? warm.unitSeconds : std::max(warm.unitSeconds, whole.count() / work);
            seen.chunks.push_back(warm.unitSeconds);
            seen.firstPeak = seen.firstPeak == 0 ? turn->peakBytes : seen.firstPeak;
            seen.peak = turn->peakBytes;
            warm.units += static_cast<std::int64_t>(turn->seconds.size());
            warm.seconds += warm.turnSeconds * work;
            slowest = std::max(slowest, warm.turnSeconds);
        }
        const bool steady =
            std::all_of(progress.begin(), progress.end(), [](const Progress& arm) { return arm.isSteady(); });
        const bool enough = result.front().units >= fewest;
        const bool tooLong = std::any_of(result.begin(), result.end(),
                                         [](const WarmUp& warm) { return warm.seconds > kMostWarmUpSeconds; });
        if (enough && (steady || tooLong)) {
            for (std::size_t arm = 0; arm < arms.size(); ++arm) {
                result[arm].ended = progress[arm].isSteady();
                result[arm].slow = progress[arm].slow();
                result[arm].allocatorGrew = progress[arm].peak > progress[arm].firstPeak;
            }
            return result;
        }
        count = std::max<std::int64_t>(least, std::llround(kChunkSeconds / slowest));
    }
}

std::int64_t unitsPerTurn(const std::string& what, double unitSeconds, std::chrono::duration<double> turn)
{
    // Chosen: with fewer steps, the step during which the turn switches to the other arm is a large part of the turn.
    constexpr std::int64_t kFewestSteps = 5;
    constexpr double kMost = 1e6;
    const auto units = std::llround(std::min(turn.count() / std::max(unitSeconds, 1e-9), kMost));
    return std::max<std::int64_t>(units, what == "steps" ? kFewestSteps : 1);
}

std::chrono::seconds patienceFor(double expectedSeconds)
{
    return std::chrono::seconds(60 + std::llround(30 * expectedSeconds));
}

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
