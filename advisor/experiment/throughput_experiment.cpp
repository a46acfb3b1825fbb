#include "advisor/experiment/experiment_run.h"
#include "advisor/experiment/lone_training.h"
#include "advisor/experiment/loss_comparison.h"
#include "advisor/experiment/statistics.h"
#include "advisor/experiment/turn_order.h"
#include "advisor/experiment/warm_up.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace advisor {

namespace protocol = config::protocol;
using profiler::Result;
using Clock = Bounds::Clock;

namespace {

bool isOutOfMemory(const Interruption& interruption)
{
    return interruption.why == Interruption::Why::Failed &&
           interruption.error.message().find("ut of memory") != std::string::npos;
}

/// Two resident trainers that take turns. Where both do not fit into the memory, one trains at a time, in a process of
/// its own for each turn.
class Throughput {
public:
    explicit Throughput(const ExperimentRun& run)
        : m_run(run), m_bounds(run.bounds), m_steps(run.plan.measure == "steps")
    {
        m_result.plan = run.plan;
        m_drop = m_steps ? stepsToDrop(run.configs) : 0;
        m_bounds.preparing = [this](const protocol::Preparing& preparing) { tellPreparing(preparing); };
    }

    Result<ExperimentResult> go()
    {
        for (;;) {
            if (const auto measured = m_result.oneAtATime ? lonePair() : pair(); !measured) {
                if (!startsOver(measured.error()))
                    return interrupted(measured.error());
                continue;
            }
            const std::size_t pairs = m_result.pairs.size();
            setSpeeds(m_result, startMeans(m_result.pairs));
            // One start gives no interval, and half a start says too little.
            if (pairs > kPairsPerStart && pairs % kPairsPerStart == 0)
                m_state.ratio = m_result.samplesPerSecond;
            tellTurn();
            if (!isLook(pairs))
                continue;
            if (const auto verdict = decide(m_result.samplesPerSecond, pairs == kLooks.back()))
                return finish(*verdict, false);
        }
    }

private:
    Outcome<void> pair();
    Outcome<void> lonePair();
    void trainOneAtATime();
    bool startsOver(const Interruption& interruption);
    Outcome<void> startBoth();
    Outcome<void> warmBoth();
    Outcome<void> compareLosses();
    Outcome<protocol::TurnResult> turn(std::size_t arm);
    Result<ExperimentResult> interrupted(const Interruption& interruption);
    Result<ExperimentResult> finish(Verdict verdict, bool outOfTime);
    void tellDoing(std::string doing);
    void tellPreparing(const protocol::Preparing& preparing);
    void tellTurn();
    [[nodiscard]] double secondsLeft() const;

    const ExperimentRun& m_run;
    Bounds m_bounds;
    bool m_steps; // else epochs or validations
    std::vector<TrainerArm> m_arms;
    std::int64_t m_drop = 0, m_units = 0; // of a turn
    std::array<double, 2> m_unitSeconds{};
    std::array<double, 2> m_seconds{}, m_unitsDone{};
    double m_warmUpSeconds = 0;            // latest
    std::int64_t m_loneDrop = 0;           // steps; 0: not known yet
    std::array<double, 2> m_loneSeconds{}; // latest, from start to end
    PreparingTold m_preparing;
    LossComparison m_losses;
    ExperimentProgress m_state;
    ExperimentResult m_result;
};

Outcome<void> Throughput::startBoth()
{
    tellDoing("starting the trainers");
    m_arms.clear();
    m_losses.nextSeed();
    const std::size_t start = m_result.pairs.size() / kPairsPerStart;
    for (std::size_t arm = 0; arm < 2; ++arm) {
        auto started = TrainerArm::start(m_run.program, withSeedOfStart(m_run.configs[arm], start), m_run.names[arm]);
        if (!started)
            return tl::unexpected(started.error());
        m_arms.push_back(std::move(*started));
    }
    for (TrainerArm& arm : m_arms)
        if (const auto hello = arm.hello(m_bounds); !hello)
            return tl::unexpected(hello.error());
    return {};
}

Outcome<void> Throughput::warmBoth()
{
    tellDoing("warming up");
    const auto unit = warmUp(m_arms, m_run.plan.measure, m_drop, m_bounds);
    if (!unit)
        return tl::unexpected(unit.error());
    m_unitSeconds = *unit;
    // As many in both arms, for the same reason; the slower one's turns are as long as turns should be.
    if (m_units == 0)
        m_units = unitsPerTurn(m_run.plan.measure, std::max(m_unitSeconds[0], m_unitSeconds[1]), m_run.plan.turn);
    return {};
}

Outcome<void> Throughput::compareLosses()
{
    constexpr std::int64_t kSteps = 10;
    std::array<std::vector<double>, 2> losses;
    for (std::size_t arm = 0; arm < 2; ++arm) {
        auto result = m_arms[arm].take({"steps", 0, kSteps}, m_bounds, std::chrono::minutes(10));
        if (!result)
            return tl::unexpected(result.error());
        losses[arm] = std::move(result->losses);
    }
    m_losses.add(losses[0], losses[1]);
    return {};
}

Outcome<void> Throughput::pair()
{
    if (startsFresh(m_result.pairs.size())) {
        if (auto started = startBoth(); !started)
            return started;
        const auto begin = Clock::now();
        // Epochs and validations report no losses of steps, so that a few steps are done for them: first of all, while
        // both arms are at the same batch.
        if (!m_steps)
            if (auto compared = compareLosses(); !compared)
                return compared;
        if (auto warm = warmBoth(); !warm)
            return warm;
        m_warmUpSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    m_state.doing = fmt::format("pair {} of at most {}", m_result.pairs.size() + 1, kLooks.back());
    std::array<double, 2> speed{};
    std::array<std::vector<double>, 2> losses;
    for (const std::size_t arm : turnOrder(m_result.pairs.size())) {
        tellTurn();
        auto result = turn(arm);
        if (!result)
            return tl::unexpected(result.error());
        const double seconds = std::accumulate(result->seconds.begin(), result->seconds.end(), 0.0);
        speed[arm] = static_cast<double>(result->samples) / seconds;
        m_seconds[arm] += seconds;
        m_unitsDone[arm] += static_cast<double>(result->seconds.size());
        losses[arm] = std::move(result->losses);
        std::int64_t& peak = arm == 0 ? m_result.peakBytesA : m_result.peakBytesB;
        peak = std::max(peak, result->peakBytes);
    }
    if (m_steps) // a validation tells the same of the same weights each time
        m_losses.add(losses[0], losses[1]);
    m_result.pairs.push_back({speed[0], speed[1], std::log(speed[1] / speed[0])});
    return {};
}

/// The same, each arm alone.
Outcome<void> Throughput::lonePair()
{
    const std::size_t pair = m_result.pairs.size();
    std::array<double, 2> speed{};
    for (const std::size_t arm : turnOrder(pair)) {
        tellDoing(fmt::format("pair {} of at most {}, one trainer at a time", pair + 1, kLooks.back()));
        const auto begin = Clock::now();
        // As many steps in both arms: what the first one needed.
        const auto result =
            trainAlone(m_run.program, withSeedOfStart(m_run.configs[arm], pair / kPairsPerStart), m_run.names[arm],
                       {.drop = m_loneDrop, .count = m_units, .time = m_run.plan.turn}, m_bounds);
        if (!result)
            return tl::unexpected(result.error());
        if (m_units == 0) {
            m_loneDrop = result->dropped;
            m_units = result->steps;
        }
        speed[arm] = static_cast<double>(result->samples) / result->seconds;
        m_seconds[arm] += result->seconds;
        m_unitsDone[arm] += static_cast<double>(result->steps);
        m_loneSeconds[arm] = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    m_result.pairs.push_back({speed[0], speed[1], std::log(speed[1] / speed[0])});
    return {};
}

void Throughput::trainOneAtATime()
{
    m_arms.clear(); // what they hold is free for the next one
    m_result.oneAtATime = true;
    m_result.pairs.clear();
    m_result.peakBytesA = m_result.peakBytesB = 0;
    m_seconds = m_unitsDone = {};
    m_units = 0;
    m_losses = {};
    m_state.ratio.reset();
}

/// Two resident trainers need the memory of both: one may have enough for itself.
bool Throughput::startsOver(const Interruption& interruption)
{
    if (m_result.oneAtATime || !m_steps || !isOutOfMemory(interruption))
        return false;
    trainOneAtATime();
    return true;
}

Outcome<protocol::TurnResult> Throughput::turn(std::size_t arm)
{
    const double expected = m_unitSeconds[arm] * static_cast<double>(m_drop + m_units);
    return m_arms[arm].take({m_run.plan.measure, m_drop, m_units}, m_bounds, patienceFor(expected));
}

Result<ExperimentResult> Throughput::interrupted(const Interruption& interruption)
{
    if (interruption.why != Interruption::Why::OutOfTime)
        return tl::unexpected(interruption.error);
    m_result.pairs.resize(m_result.pairs.size() / kPairsPerStart * kPairsPerStart);
    setSpeeds(m_result, startMeans(m_result.pairs));
    // The end of the time is no look at the data that was chosen for what they say: it takes the place of the next
    // planned one.
    const bool looked = m_result.pairs.size() >= kLooks.front();
    return finish(looked ? *decide(m_result.samplesPerSecond, true) : Verdict::Inconclusive, true);
}

Result<ExperimentResult> Throughput::finish(Verdict verdict, bool outOfTime)
{
    m_arms.clear();
    const auto unitUs = [&](std::size_t arm) {
        return m_unitsDone[arm] > 0 ? 1e6 * m_seconds[arm] / m_unitsDone[arm] : 0;
    };
    m_result.unitUsA = unitUs(0);
    m_result.unitUsB = unitUs(1);
    setSavedTime(m_result);
    const auto losses = m_losses.result();
    m_result.lossA = losses.a;
    m_result.lossB = losses.b;
    if (sameBatches(m_run.plan.changes) && !m_result.oneAtATime) {
        m_result.lossParity = losses.parity;
        m_result.lossTolerance = losses.tolerance;
    }
    m_result.verdict = verdict == Verdict::Pays && !m_result.lossParity ? Verdict::DoesNotPay : verdict;
    m_result.why = explain(m_result, outOfTime);
    if (m_result.oneAtATime)
        m_result.why += " One trainer ran at a time, since both together ran out of memory; what they learn was not "
                        "compared.";
    return std::move(m_result);
}

void Throughput::tellDoing(std::string doing)
{
    m_state.doing = std::move(doing);
    tellTurn();
}

void Throughput::tellPreparing(const protocol::Preparing& preparing)
{
    if (auto text = m_preparing.text(preparing))
        tellDoing(std::move(*text));
}

void Throughput::tellTurn()
{
    m_state.pairs = m_result.pairs;
    m_state.secondsLeft = secondsLeft();
    m_run.tell(m_state);
}

double Throughput::secondsLeft() const
{
    const auto done = m_result.pairs.size(), most = kLooks.back();
    if (m_result.oneAtATime && m_loneSeconds[0] > 0)
        return static_cast<double>(most - done) * (m_loneSeconds[0] + std::max(m_loneSeconds[0], m_loneSeconds[1]));
    if (m_units == 0)
        return estimatedSeconds(m_run.plan, 0, most);
    const double units = static_cast<double>(m_drop + m_units);
    const double pairSeconds = (m_unitSeconds[0] + m_unitSeconds[1]) * units;
    std::size_t starts = 0;
    for (std::size_t pair = done; pair < most; ++pair)
        starts += startsFresh(pair) ? 1 : 0;
    return static_cast<double>(most - done) * pairSeconds +
           static_cast<double>(starts) * (kStartSeconds + m_warmUpSeconds);
}

} // namespace

Result<ExperimentResult> measureThroughput(const ExperimentRun& run)
{
    return Throughput(run).go();
}

} // namespace advisor
