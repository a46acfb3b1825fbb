#include "advisor/experiment/warm_up.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace advisor {

namespace {

constexpr std::int64_t kFirstSteps = 3;
constexpr double kChunkSeconds = 0.3;
constexpr double kMostSeconds = 3;
constexpr double kSteady = 1.1;
// Nothing is known yet of how long a step, or an epoch, takes.
constexpr std::chrono::seconds kFirstEpochPatience = std::chrono::hours(24);

std::chrono::seconds firstPatience(const std::string& what)
{
    return what == "steps" ? kFirstPatience : kFirstEpochPatience;
}

bool isSteady(double before, double now)
{
    return now < before * kSteady && before < now * kSteady;
}

double mean(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

Outcome<std::array<double, 2>> warmUp(std::span<TrainerArm> arms, const std::string& what, std::int64_t drop,
                                      const Bounds& bounds)
{
    const bool steps = what == "steps";
    const std::int64_t fewest = steps ? kFirstSteps : 1;
    std::int64_t count = fewest;
    std::array<double, 2> before{}, spent{};
    for (;;) {
        std::array<double, 2> unit{};
        for (std::size_t arm = 0; arm < 2; ++arm) {
            const auto work = static_cast<double>(count + drop);
            const auto turn = arms[arm].take({what, drop, count}, bounds,
                                             before[arm] > 0 ? patienceFor(before[arm] * work) : firstPatience(what));
            if (!turn)
                return tl::unexpected(turn.error());
            unit[arm] = mean(turn->seconds);
            spent[arm] += unit[arm] * work;
        }
        const bool steady = isSteady(before[0], unit[0]) && isSteady(before[1], unit[1]);
        if (steady || std::max(spent[0], spent[1]) > kMostSeconds)
            return unit;
        before = unit;
        count = std::max<std::int64_t>(fewest, std::llround(kChunkSeconds / std::max(unit[0], unit[1])));
    }
}

std::int64_t unitsPerTurn(const std::string& what, double unitSeconds, std::chrono::milliseconds turn)
{
    constexpr std::int64_t kFewestSteps = 5;
    constexpr double kMost = 1e6;
    const auto units =
        std::llround(std::min(std::chrono::duration<double>(turn).count() / std::max(unitSeconds, 1e-9), kMost));
    return std::max<std::int64_t>(units, what == "steps" ? kFewestSteps : 1);
}

std::chrono::seconds patienceFor(double expectedSeconds)
{
    return std::chrono::seconds(60 + std::llround(30 * expectedSeconds));
}

} // namespace advisor
