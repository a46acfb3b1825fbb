#include "profiler/analysis/recording_cost.h"

#include <cmath>

namespace profiler::analysis {

namespace {

constexpr std::int64_t kFewest = 5; // with fewer steps, the spread is unknown
// Half-width of the interval above which a cost is called noisy. Chosen: overheads are a few percent of a step, and an
// interval wider than ±2 % cannot distinguish one level from the next.
constexpr double kNoisyHalfWidth = 0.02;
// CPU share of other processes above which a cost is called noisy. Chosen: 10 % of the machine lengthens steps by as
// much as recording does.
constexpr double kNoisyOtherLoad = 0.1;

/// Running mean and variance of logarithms (Welford).
struct Logs {
    std::int64_t count = 0;
    double mean = 0, squares = 0;

    void add(double value)
    {
        ++count;
        const double before = value - mean;
        mean += before / static_cast<double>(count);
        squares += before * (value - mean);
    }
    /// Squared standard error of the mean.
    [[nodiscard]] double error() const { return squares / static_cast<double>(count - 1) / static_cast<double>(count); }
};

} // namespace

std::optional<RecordingCost> recordingCost(const std::vector<Step>& steps)
{
    Logs with, without;
    for (const Step& step : steps)
        if (isSteady(step) && step.range.duration().count() > 0)
            (step.opsRecorded ? with : without).add(std::log(static_cast<double>(step.range.duration().count())));
    if (with.count < kFewest || without.count < kFewest)
        return std::nullopt;
    const double difference = with.mean - without.mean, spread = 2 * std::sqrt(with.error() + without.error());
    const double within = (with.squares + without.squares) / static_cast<double>(with.count + without.count - 2);
    return RecordingCost{
        std::exp(difference), std::exp(difference - spread), std::exp(difference + spread), with.count, without.count,
        std::sqrt(within)};
}

double RecordingCost::recordedShare() const
{
    const auto all = static_cast<double>(with + without);
    return all > 0 ? static_cast<double>(with) / all : 0;
}

bool isNoisy(const RecordingCost& cost, std::optional<double> otherLoad)
{
    return (cost.high - cost.low) / 2 > kNoisyHalfWidth || otherLoad.value_or(0) > kNoisyOtherLoad;
}

} // namespace profiler::analysis
