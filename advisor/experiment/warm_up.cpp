#include "advisor/experiment/warm_up.h"

#include "profiler/analysis/steps/warm_up_end.h"

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

} // namespace

Outcome<std::vector<WarmUp>> warmUp(std::span<Arm* const> arms, const std::string& what, std::int64_t drop,
                                    const RunLimits& bounds, std::int64_t fewest)
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
                arms[arm]->take({what, drop, count}, bounds,
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

} // namespace advisor
