#include "advisor/experiment/experiment_run.h"
#include "advisor/experiment/loss_comparison.h"
#include "advisor/experiment/statistics.h"
#include "advisor/experiment/turn_order.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace advisor {

using profiler::Result;

namespace {

// Each pair is two processes from their start to their peak. Two looks share the five percent.
constexpr std::array<std::size_t, 2> kMemoryLooks = {3, 6};
constexpr double kMemoryAlpha = 0.05 / kMemoryLooks.size();
// Beyond the batches that lie ready: memory has been at its highest after the first few steps.
constexpr std::int64_t kSteps = 5;
// The first steps of a process are slow: they say nothing of the speed.
constexpr std::int64_t kWarmUpSteps = 5;
constexpr std::chrono::minutes kPatience{10};

class Memory {
public:
    explicit Memory(const ExperimentRun& run) : m_run(run) { m_result.plan = run.plan; }

    Result<ExperimentResult> go()
    {
        for (;;) {
            if (const auto measured = pair(); !measured)
                return interrupted(measured.error());
            const std::size_t pairs = m_logRatios.size();
            if (std::find(kMemoryLooks.begin(), kMemoryLooks.end(), pairs) == kMemoryLooks.end())
                continue;
            if (const auto verdict = decide(ratio(), pairs == kMemoryLooks.back()))
                return finish(*verdict);
        }
    }

private:
    // a / b, so that above 1 the change needs less.
    [[nodiscard]] Interval ratio() const { return ratioInterval(m_logRatios, kMemoryAlpha); }

    Outcome<void> pair()
    {
        std::array<config::protocol::TurnResult, 2> turns;
        for (const std::size_t arm : turnOrder(m_logRatios.size())) {
            ExperimentProgress state;
            state.doing = fmt::format("memory: pair {} of at most {}", m_logRatios.size() + 1, kMemoryLooks.back());
            state.pairs = m_result.pairs;
            state.secondsLeft = secondsLeft();
            m_run.tell(state);
            auto turn = alone(arm);
            if (!turn)
                return tl::unexpected(turn.error());
            turns[arm] = std::move(*turn);
        }
        m_losses.nextSeed();
        m_losses.add(turns[0].losses, turns[1].losses);
        const auto speed = [&](std::size_t arm) {
            const auto& seconds = turns[arm].seconds;
            const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
            m_seconds[arm] += sum;
            m_units[arm] += static_cast<double>(seconds.size());
            return static_cast<double>(turns[arm].samples) / sum;
        };
        const double a = speed(0), b = speed(1);
        m_result.pairs.push_back({a, b, std::log(b / a)});
        m_result.peakBytesA = std::max(m_result.peakBytesA, turns[0].peakBytes);
        m_result.peakBytesB = std::max(m_result.peakBytesB, turns[1].peakBytes);
        m_logRatios.push_back(
            std::log(static_cast<double>(turns[0].peakBytes) / static_cast<double>(turns[1].peakBytes)));
        return {};
    }

    Outcome<config::protocol::TurnResult> alone(std::size_t arm)
    {
        auto trainer =
            TrainerArm::start(m_run.program, withSeedOfStart(m_run.configs[arm], m_logRatios.size()), m_run.names[arm]);
        if (!trainer)
            return tl::unexpected(trainer.error());
        if (const auto hello = trainer->hello(m_run.bounds); !hello)
            return tl::unexpected(hello.error());
        auto turn =
            trainer->take({"steps", stepsToDrop(m_run.configs) + kWarmUpSteps, kSteps}, m_run.bounds, kPatience);
        if (turn && turn->peakBytes <= 0)
            return tl::unexpected(Interruption{Interruption::Why::Failed,
                                               {profiler::Error::Code::Unsupported,
                                                "The trainer does not report its peak memory",
                                                m_run.names[arm],
                                                {}}});
        return turn;
    }

    [[nodiscard]] double secondsLeft() const
    {
        const auto done = static_cast<double>(m_logRatios.size()), most = static_cast<double>(kMemoryLooks.back());
        return done > 0 ? m_run.secondsSpent() / done * (most - done)
                        : estimatedMemorySeconds(m_run.plan, 0, kMemoryLooks.back());
    }

    Result<ExperimentResult> interrupted(const Interruption& interruption)
    {
        if (interruption.why != Interruption::Why::OutOfTime)
            return tl::unexpected(interruption.error);
        const bool looked = m_logRatios.size() >= kMemoryLooks.front();
        return finish(looked ? *decide(ratio(), true) : Verdict::Inconclusive);
    }

    Result<ExperimentResult> finish(Verdict verdict)
    {
        std::vector<double> speeds; // each pair has processes of its own
        for (const Pair& pair : m_result.pairs)
            speeds.push_back(pair.logRatio);
        setSpeeds(m_result, speeds);
        for (std::size_t arm = 0; arm < 2; ++arm)
            (arm == 0 ? m_result.unitUsA : m_result.unitUsB) =
                m_units[arm] > 0 ? 1e6 * m_seconds[arm] / m_units[arm] : 0;
        setSavedTime(m_result);
        const auto losses = m_losses.result();
        m_result.lossA = losses.a;
        m_result.lossB = losses.b;
        if (sameBatches(m_run.plan.changes)) {
            m_result.lossParity = losses.parity;
            m_result.lossTolerance = losses.tolerance;
        }
        m_result.verdict = verdict == Verdict::Pays && !m_result.lossParity ? Verdict::DoesNotPay : verdict;
        if (m_logRatios.size() < 2) {
            m_result.why = "The time was over before two pairs were measured.";
            return std::move(m_result);
        }
        const Interval memory = ratio();
        const auto saved = [&](double r) { return static_cast<double>(m_result.peakBytesA) * (1 - 1 / r); };
        m_result.savedBytes = {saved(memory.value), saved(memory.low), saved(memory.high)};
        m_result.why =
            fmt::format("The baseline's tensors hold {} × the memory of the change's at their peak, {} pairs of "
                        "fresh processes{}.",
                        intervalText(memory), m_logRatios.size(), m_result.lossParity ? "" : "; but the loss differs");
        return std::move(m_result);
    }

    const ExperimentRun& m_run;
    std::vector<double> m_logRatios;
    std::array<double, 2> m_seconds{}, m_units{};
    LossComparison m_losses;
    ExperimentResult m_result;
};

} // namespace

double estimatedMemorySeconds(const ExperimentPlan& plan, double stepSeconds, std::size_t pairs)
{
    const auto ahead = plan.baseline[config::key::workers] * plan.baseline[config::key::prefetchFactor] + 1;
    const double process = kStartSeconds / 2 + stepSeconds * static_cast<double>(ahead + kWarmUpSteps + kSteps);
    return 2 * process * static_cast<double>(pairs > 0 ? pairs : kMemoryLooks.front());
}

Result<ExperimentResult> measureMemory(const ExperimentRun& run)
{
    return Memory(run).go();
}

} // namespace advisor
