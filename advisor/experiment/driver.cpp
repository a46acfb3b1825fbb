#include "advisor/experiment/driver.h"

#include "advisor/experiment/equal_time.h"
#include "advisor/experiment/result_text.h"
#include "advisor/experiment/statistics.h"
#include "advisor/experiment/timing.h"
#include "advisor/runner/child_process.h"
#include "profiler/os/machine.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <numeric>

namespace advisor {

namespace protocol = config::protocol;
using profiler::Error;
using profiler::Result;
using Clock = RunLimits::Clock;

namespace {

constexpr std::size_t kMostSeeds = kLooks.back() / kPairsPerStart;
// Each start uses a new seed: a verdict on a change that may affect the loss is based on at least three seeds.
static_assert(kLooks.front() / kPairsPerStart >= 3);
// In a screening, an arm trains this long without reporting; progress is shown at the same interval.
constexpr double kPieceSeconds = 1;
// Before the first validation, its duration is unknown.
constexpr std::chrono::hours kFirstValidationPatience{24};
constexpr std::chrono::milliseconds kPreparingInterval{200};

/// True if the kernel may have killed the arm for lack of memory: a program ("program.run.signal", as the reason of
/// "program.run.failed") or a trainer ("trainer.killed").
bool wasKilled(const profiler::Message& what)
{
    const auto* reason = what.find("reason");
    const auto* signal = what.find("signal");
    const bool isProgram = reason && reason->value == profiler::MessageParameter::Value("program.run.signal");
    return (isProgram || what.id == "trainer.killed") && signal &&
           signal->value == profiler::MessageParameter::Value(std::int64_t{SIGKILL});
}

bool competesForResources(const Interruption& interruption)
{
    return interruption.why == Interruption::Why::Failed &&
           (wasKilled(interruption.error.what) || namesScarceResource(interruption.error.message()));
}

bool changesTrainingSamples(const ExperimentPlan& plan)
{
    return std::any_of(plan.changes.begin(), plan.changes.end(), [](const Toggle& change) {
        const config::Knob* knob = config::findKnob(change.key);
        return knob && knob->changesTrainingSamples;
    });
}

/// The larger of the two values; NaN unless both are finite.
double largestFinite(double a, double b)
{
    if (!std::isfinite(a) || !std::isfinite(b))
        return std::isfinite(a) ? a : b;
    return std::max(a, b);
}

double sumOf(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double geometricMean(const std::vector<Pair>& pairs, double Pair::*arm)
{
    double sum = 0;
    for (const Pair& pair : pairs)
        sum += std::log(pair.*arm);
    return std::exp(sum / static_cast<double>(pairs.size()));
}

template <profiler::detail::Literal Id, profiler::detail::Literal Text>
Interruption failure(Error::Code code, std::string where, std::string hint)
{
    return {Interruption::Why::Failed, profiler::makeError<Id, Text>(code, std::move(where), std::move(hint))};
}

class Driver {
public:
    explicit Driver(const ExperimentSetup& setup)
        : m_plan(setup.plan), m_programs(setup.arms), m_monitor(setup.monitor), m_progress(setup.progress),
          m_limits(setup.limits), m_screens(isScreening(setup.plan)),
          m_memory(setup.plan.objective == Objective::Memory),
          m_steps(setup.plan.measure == "steps" || m_screens || m_memory),
          m_otherBatches(!m_screens && !m_memory && m_steps && !sameBatches(setup.plan.changes)),
          m_pairsPerStart(m_screens || m_memory ? 1 : kPairsPerStart), m_isSequential(m_memory)
    {
        m_result.plan = setup.plan;
        m_result.noise.cores = m_monitor.cores();
        m_result.warmUp.limitSeconds = kMostWarmUpSeconds;
        m_limits.preparing = [this](const protocol::Preparing& preparing) { reportPreparing(preparing); };
        if (m_memory) {
            m_sequentialWarmUp = kMemoryWarmUpSteps;
            m_units = {kMemorySteps, kMemorySteps};
        }
    }

    Result<ExperimentResult> run()
    {
        if (m_screens)
            if (const auto planned = planScreening(); !planned)
                return interrupted(planned.error());
        for (;;) {
            if (const auto observed = m_screens ? observeSeed() : observePairs(); !observed) {
                if (!continuesSequentially(observed.error()))
                    return interrupted(observed.error());
                continue;
            }
            const std::size_t pairs = m_observations.size() * kPairsPerStart;
            updateInterval();
            if (m_observations.size() >= 2)
                m_state.ratio = m_result.judgedRatio;
            if (m_screens && m_observations.size() >= 2)
                m_state.savedLoss = m_equalLosses.result().saved;
            report();
            if (!isLook(pairs))
                continue;
            if (const auto verdict = settle(pairs == kLooks.back()))
                return finish(*verdict, false);
        }
    }

private:
    /// Data collected so far for one observation.
    struct Observation {
        std::array<std::vector<double>, 2> losses; // of the same steps
        std::array<LearningCurve, 2> curves;
        std::array<double, 2> untrained{}; // loss of the first step
        std::array<std::int64_t, 2> peakBytes{};
        std::array<double, 2> samples{};
    };
    struct Turn {
        protocol::TurnResult result;
        TurnConditions conditions;
        std::int64_t warmUp = 0; // steps before the turn if it has its own process
        [[nodiscard]] double seconds() const { return sumOf(result.seconds); }
        [[nodiscard]] double speed() const { return static_cast<double>(result.samples) / seconds(); }
    };

    // --- turns and pairs ---
    Outcome<void> startBoth(std::size_t seed);
    Outcome<protocol::Hello> greet(Arm& arm);
    [[nodiscard]] std::chrono::duration<double> turnLength() const;
    Outcome<void> warmBoth();
    Outcome<void> trainForEqualTime(std::span<const WarmUp> warm);
    Outcome<void> compareFirstLosses();
    Outcome<void> observePairs();
    Outcome<void> pair();
    void addToCurve(std::size_t arm, const protocol::TurnResult& turn);
    Outcome<Turn> residentTurn(std::size_t arm);
    Outcome<Turn> sequentialTurn(std::size_t arm);
    void keep(const std::array<Turn, 2>& turns, bool disturbed);
    Outcome<void> keepObservation();
    bool continuesSequentially(const Interruption& interruption);
    void noteWarmUp(std::size_t arm, const WarmUp& warm);
    void countWork(std::size_t arm, const protocol::TurnResult& turn);
    Outcome<protocol::TurnResult> observed(Arm& arm, const protocol::Turn& turn, std::chrono::seconds patience,
                                           TurnConditions& conditions);
    bool noteDisturbance(std::span<const TurnConditions> turns);
    [[nodiscard]] std::vector<std::int64_t> ownProcesses(const Arm* alone = nullptr) const;

    // --- screening ---
    Outcome<void> planScreening();
    Outcome<void> observeSeed();
    Outcome<void> trainSeed(std::vector<TurnConditions>& conditions, std::array<double, 2>& losses);
    Outcome<void> beginLearning(std::size_t arm);
    Outcome<void> learn(std::size_t arm, double untilSeconds);
    Outcome<double> lossAfterTraining(std::size_t arm);
    Outcome<double> validate(std::size_t arm);
    [[nodiscard]] double overheadSeconds() const { return kStartSeconds + 2 * m_validationSeconds; }

    // --- statistics and result ---
    void updateInterval();
    [[nodiscard]] LossCheck checkLoss() const;
    std::optional<Verdict> settle(bool last);
    Result<ExperimentResult> interrupted(const Interruption& interruption);
    Result<ExperimentResult> finish(Verdict verdict, bool outOfTime);

    // --- progress ---
    void reportDoing(std::string doing);
    void reportPreparing(const protocol::Preparing& preparing);
    void report();
    [[nodiscard]] double secondsLeft() const;
    [[nodiscard]] double secondsSpent() const { return std::chrono::duration<double>(Clock::now() - m_begin).count(); }

    const ExperimentPlan& m_plan;
    Arms& m_programs;
    MachineMonitor& m_monitor;
    const std::function<void(const ExperimentProgress&)>& m_progress;
    RunLimits m_limits;
    const bool m_screens, m_memory;
    const bool m_steps;  // otherwise epochs or validations are timed
    bool m_otherBatches; // the objective is time and the batches differ: the arms' losses are compared at equal time
    const std::size_t m_pairsPerStart;
    bool m_isSequential;     // each turn has its own process
    std::int64_t m_drop = 0; // steps at the start of each turn that are not timed; known once the arms have said hello
    const Clock::time_point m_begin = Clock::now();

    std::array<std::unique_ptr<Arm>, 2> m_arms;
    std::array<std::int64_t, 2> m_units{}; // units per turn; 0: not known yet
    std::array<double, 2> m_unitSeconds{}; // duration of a unit within a turn, for each arm
    std::array<double, 2> m_seconds{}, m_unitsDone{};
    double m_warmUpSeconds = 0;                  // of the latest start
    std::int64_t m_sequentialWarmUp = 0;         // steps; 0: not known yet
    std::array<double, 2> m_sequentialSeconds{}; // of the latest process, from start to end
    Observation m_now;
    std::vector<double> m_observations; // log ratios; above zero the change is better
    SameBatchLosses m_sameLosses;
    EqualTimeLosses m_equalLosses;
    LossHistory m_history;
    std::size_t m_equalLossSteps = 0;
    double m_horizonSum = 0; // sum over the starts whose losses were compared at equal time

    double m_horizon = 0, m_validationSeconds = 0; // of a screening
    bool m_validates = false;
    std::int64_t m_untimedSteps = 0; // at the start of each seed
    Clock::time_point m_prepared{};
    ExperimentProgress m_state;
    ExperimentResult m_result;
};

Outcome<void> Driver::startBoth(std::size_t seed)
{
    reportDoing(m_programs.startingText());
    m_arms = {};
    for (std::size_t arm = 0; arm < 2; ++arm) {
        auto started = m_programs.start(arm, seed);
        if (!started)
            return tl::unexpected(started.error());
        m_arms[arm] = std::move(*started);
    }
    return {};
}

Outcome<protocol::Hello> Driver::greet(Arm& arm)
{
    auto hello = arm.hello(m_limits);
    if (hello)
        m_result.machine = {profiler::os::processorName(), hello->device};
    m_drop = m_steps ? m_programs.stepsToDrop() : 0;
    // A diff or another command may change the batches, too.
    m_otherBatches = m_otherBatches || (!m_screens && !m_memory && m_steps && m_programs.haveOtherBatches());
    return hello;
}

void Driver::noteWarmUp(std::size_t arm, const WarmUp& warm)
{
    WarmUpReport::OfArm& report = m_result.warmUp.arms[arm];
    report.steps = std::max(report.steps, warm.slow);
    report.seconds = std::max(report.seconds, warm.seconds);
    report.ended = report.ended && warm.ended;
    if (warm.slow == 0)
        return;
    auto causes = m_programs.warmUpCauses(arm);
    if (warm.allocatorGrew)
        causes.emplace_back("allocator growth");
    for (std::string& cause : causes)
        if (std::find(report.causes.begin(), report.causes.end(), cause) == report.causes.end())
            report.causes.push_back(std::move(cause));
}

/// If the user grants a longer horizon to losses at equal time, the turns of a start share it. If each turn is a
/// separate training run, it gets the whole horizon.
std::chrono::duration<double> Driver::turnLength() const
{
    if (!m_otherBatches || m_plan.horizon.count() == 0)
        return m_plan.turn;
    return m_plan.horizon / (m_isSequential ? 1 : static_cast<int>(kPairsPerStart));
}

Outcome<void> Driver::warmBoth()
{
    reportDoing("warming up");
    const std::array<Arm*, 2> arms = {m_arms[0].get(), m_arms[1].get()};
    const auto warm = warmUp(arms, m_plan.measure, m_drop, m_limits);
    if (!warm)
        return tl::unexpected(warm.error());
    for (std::size_t arm = 0; arm < 2; ++arm) {
        noteWarmUp(arm, (*warm)[arm]);
        m_unitSeconds[arm] = (*warm)[arm].turnSeconds;
    }
    if (m_otherBatches)
        if (auto trained = trainForEqualTime(*warm); !trained)
            return trained;
    if (m_units[0] > 0)
        return {};
    const std::chrono::duration<double> turn = turnLength();
    const double slower = std::max(m_unitSeconds[0], m_unitSeconds[1]);
    // The same number of units in both arms keeps them at the same batches; if the batches differ, both arms train for
    // the same time instead.
    for (std::size_t arm = 0; arm < 2; ++arm)
        m_units[arm] = unitsPerTurn(m_plan.measure, m_otherBatches ? m_unitSeconds[arm] : slower, turn);
    return {};
}

/// In the warm-up, both arms train the same number of steps, which take longer with a larger batch. The other arm
/// trains on, so that the losses are compared after equal time.
Outcome<void> Driver::trainForEqualTime(std::span<const WarmUp> warm)
{
    const std::size_t behind = warm[0].seconds < warm[1].seconds ? 0 : 1;
    const double missing = warm[1 - behind].seconds - warm[behind].seconds;
    const auto steps = std::llround(missing / m_unitSeconds[behind]);
    if (steps == 0)
        return {};
    const auto turn = m_arms[behind]->take({"steps", 0, steps}, m_limits, patienceFor(missing));
    if (!turn)
        return tl::unexpected(turn.error());
    return {};
}

// Epochs report no per-step losses, and a validation repeats its loss for the same weights. Therefore a few steps are
// run first to compare losses, while both arms are at the same batch.
Outcome<void> Driver::compareFirstLosses()
{
    constexpr std::int64_t kSteps = 10;
    for (std::size_t arm = 0; arm < 2; ++arm) {
        auto result = m_arms[arm]->take({"steps", 0, kSteps}, m_limits, kFirstPatience);
        if (!result)
            return tl::unexpected(result.error());
        m_now.losses[arm] = std::move(result->losses);
    }
    return {};
}

Outcome<void> Driver::observePairs()
{
    m_now = {};
    m_history.restart();
    if (!m_isSequential) {
        if (auto started = startBoth(m_observations.size()); !started)
            return started;
        for (const auto& arm : m_arms)
            if (const auto hello = greet(*arm); !hello)
                return tl::unexpected(hello.error());
        const auto begin = Clock::now();
        if (!m_steps)
            if (auto compared = compareFirstLosses(); !compared)
                return compared;
        if (auto warm = warmBoth(); !warm)
            return warm;
        m_warmUpSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    for (std::size_t done = 0; done < m_pairsPerStart; ++done)
        if (auto measured = pair(); !measured)
            return measured;
    return keepObservation();
}

/// The other arm is waiting for its turn, but its processes belong to the experiment as well.
std::vector<std::int64_t> Driver::ownProcesses(const Arm* alone) const
{
    std::vector<std::int64_t> own = alone ? alone->processes() : std::vector<std::int64_t>();
    for (const auto& resident : m_arms)
        if (resident)
            for (const std::int64_t pid : resident->processes())
                own.push_back(pid);
    return own;
}

/// Runs a turn while the machine is observed.
Outcome<protocol::TurnResult> Driver::observed(Arm& arm, const protocol::Turn& turn, std::chrono::seconds patience,
                                               TurnConditions& conditions)
{
    m_monitor.begin(ownProcesses(&arm));
    auto result = arm.take(turn, m_limits, patience);
    conditions = m_monitor.end(ownProcesses(&arm));
    return result;
}

/// True if a disturbance affected one of these turns.
bool Driver::noteDisturbance(std::span<const TurnConditions> turns)
{
    NoiseReport& noise = m_result.noise;
    for (const TurnConditions& turn : turns)
        noise.neededCores = std::max(noise.neededCores, turn.ownCores);
    bool disturbed = false;
    for (const TurnConditions& turn : turns)
        if (isDisturbed(turn, noise.cores, noise.neededCores)) {
            addDisturbed(noise, turn);
            disturbed = true;
        }
    return disturbed;
}

Outcome<void> Driver::pair()
{
    const std::size_t index = m_result.pairs.size();
    for (bool repeated = false;; repeated = true) {
        std::array<Turn, 2> turns;
        // A program may have changed its number of workers; both arms of a pair drop the same number of steps.
        if (m_steps && !m_isSequential)
            m_drop = std::max(m_drop, m_programs.stepsToDrop());
        for (const std::size_t arm : turnOrder(index)) {
            reportDoing(fmt::format("{}pair {} of at most {}{}{}", m_memory ? "memory: " : "", index + 1,
                                    kLooks.back() / kPairsPerStart * m_pairsPerStart, repeated ? ", repeated" : "",
                                    m_isSequential && !m_memory ? ", one trainer at a time" : ""));
            auto taken = m_isSequential ? sequentialTurn(arm) : residentTurn(arm);
            if (!taken)
                return tl::unexpected(taken.error());
            turns[arm] = std::move(*taken);
        }
        // If either turn was disturbed, both arms are measured again. Peak memory does not depend on other programs.
        const bool disturbed = !m_memory && noteDisturbance(std::array{turns[0].conditions, turns[1].conditions});
        if (disturbed && m_result.noise.repeatedPairs < kMostRepeatedPairs) {
            ++m_result.noise.repeatedPairs;
            continue;
        }
        keep(turns, disturbed);
        return {};
    }
}

void Driver::addToCurve(std::size_t arm, const protocol::TurnResult& turn)
{
    LearningCurve& curve = m_now.curves[arm];
    if (curve.seconds() == 0 && !turn.losses.empty())
        m_now.untrained[arm] = turn.losses.front();
    curve.add(turn.seconds, turn.losses);
}

Outcome<Driver::Turn> Driver::residentTurn(std::size_t arm)
{
    Turn turn;
    const double expected = m_unitSeconds[arm] * static_cast<double>(m_drop + m_units[arm]);
    auto result =
        observed(*m_arms[arm], {m_plan.measure, m_drop, m_units[arm]}, patienceFor(expected), turn.conditions);
    if (!result)
        return tl::unexpected(result.error());
    turn.result = std::move(*result);
    if (m_otherBatches)
        addToCurve(arm, turn.result);
    return turn;
}

/// A turn in a fresh process, without another resident arm.
Outcome<Driver::Turn> Driver::sequentialTurn(std::size_t arm)
{
    const auto begin = Clock::now();
    auto program = m_programs.start(arm, m_observations.size());
    if (!program)
        return tl::unexpected(program.error());
    if (const auto hello = greet(**program); !hello)
        return tl::unexpected(hello.error());
    Turn turn;
    std::int64_t drop = m_drop + m_sequentialWarmUp;
    turn.warmUp = m_sequentialWarmUp;
    // The first process of each arm determines how long its warm-up takes; later processes of both arms use the longer
    // warm-up.
    const bool first = !m_memory && m_result.pairs.empty();
    if (first) {
        const std::array<Arm*, 1> arms = {program->get()};
        const auto warm = warmUp(arms, m_plan.measure, m_drop, m_limits);
        if (!warm)
            return tl::unexpected(warm.error());
        noteWarmUp(arm, warm->front());
        turn.warmUp = warm->front().units;
        drop = m_drop;
        m_unitSeconds[arm] = warm->front().unitSeconds;
        // The same number of units in both arms, unless their batches differ: then both train for the same time.
        if (m_units[arm] == 0)
            m_units[arm] = m_otherBatches || arm == 0 ? unitsPerTurn(m_plan.measure, m_unitSeconds[arm], turnLength())
                                                      : m_units[0];
    }
    const auto patience =
        std::max(kFirstPatience, patienceFor(m_unitSeconds[arm] * static_cast<double>(drop + m_units[arm])));
    auto result =
        observed(**program, {m_memory ? "steps" : m_plan.measure, drop, m_units[arm]}, patience, turn.conditions);
    if (!result)
        return tl::unexpected(result.error());
    turn.result = std::move(*result);
    (*program)->finish();
    m_sequentialSeconds[arm] = std::chrono::duration<double>(Clock::now() - begin).count();
    if (m_memory && turn.result.peakBytes <= 0)
        return tl::unexpected(failure<"trainer.no_peak_memory", "The trainer does not report its peak memory">(
            Error::Code::Unsupported, m_programs.name(arm), {}));
    return turn;
}

void Driver::countWork(std::size_t arm, const protocol::TurnResult& turn)
{
    m_seconds[arm] += sumOf(turn.seconds);
    m_unitsDone[arm] += static_cast<double>(turn.seconds.size());
    std::int64_t& peak = arm == 0 ? m_result.peakBytesA : m_result.peakBytesB;
    peak = std::max(peak, turn.peakBytes);
}

void Driver::keep(const std::array<Turn, 2>& turns, bool disturbed)
{
    m_result.noise.disturbedPairs += disturbed ? 1 : 0;
    if (m_isSequential) // each turn starts the same training run again
        m_history.restart();
    for (std::size_t arm = 0; arm < 2; ++arm) {
        add(m_result.noise, turns[arm].conditions);
        countWork(arm, turns[arm].result);
        if (m_steps)
            m_history.add(arm, turns[arm].result);
        m_now.peakBytes[arm] = turns[arm].result.peakBytes;
    }
    if (m_steps && turns[0].warmUp == turns[1].warmUp)
        for (std::size_t arm = 0; arm < 2; ++arm) {
            const auto& losses = turns[arm].result.losses;
            m_now.losses[arm].insert(m_now.losses[arm].end(), losses.begin(), losses.end());
        }
    // Turns in separate processes repeat the start of the same training run, so only the last pair of a start counts.
    if (m_isSequential && m_otherBatches && turns[0].warmUp == turns[1].warmUp)
        for (std::size_t arm = 0; arm < 2; ++arm) {
            m_now.curves[arm] = {};
            addToCurve(arm, turns[arm].result);
        }
    if (m_isSequential)
        m_sequentialWarmUp = std::max({m_sequentialWarmUp, turns[0].warmUp, turns[1].warmUp});
    const double a = turns[0].speed(), b = turns[1].speed();
    m_result.pairs.push_back({a, b, std::log(b / a)});
}

Outcome<void> Driver::keepObservation()
{
    m_sameLosses.addSeed(m_now.losses[0], m_now.losses[1]);
    m_history.endSeed();
    if (m_otherBatches) {
        // Repeated pairs train on, but the losses of all starts are compared after about the same time.
        double planned = 0;
        for (std::size_t arm = 0; arm < 2; ++arm)
            planned = std::max(planned, m_unitSeconds[arm] * static_cast<double>(m_units[arm]));
        planned *= m_isSequential ? 1 : static_cast<double>(m_pairsPerStart);
        const double horizon = std::min({m_now.curves[0].seconds(), m_now.curves[1].seconds(), planned});
        const auto a = m_now.curves[0].endOf(horizon), b = m_now.curves[1].endOf(horizon);
        // If the losses have no ratio (below zero), they are not compared; the objective is the speed.
        if (a && b && m_equalLosses.add({*a, *b}, largestFinite(m_now.untrained[0], m_now.untrained[1]))) {
            m_equalLossSteps += std::min(m_now.curves[0].stepsAtEndOf(horizon), m_now.curves[1].stepsAtEndOf(horizon));
            m_horizonSum += horizon;
        }
    }
    if (m_memory) {
        m_observations.push_back(
            std::log(static_cast<double>(m_now.peakBytes[0]) / static_cast<double>(m_now.peakBytes[1])));
        return {};
    }
    double sum = 0;
    for (std::size_t i = m_result.pairs.size() - m_pairsPerStart; i < m_result.pairs.size(); ++i)
        sum += m_result.pairs[i].logRatio;
    m_observations.push_back(sum / static_cast<double>(m_pairsPerStart));
    return {};
}

/// Two resident programs compete for memory; a single program may have enough.
bool Driver::continuesSequentially(const Interruption& interruption)
{
    if (m_isSequential || m_screens || !m_steps || !competesForResources(interruption))
        return false;
    m_arms = {}; // frees the resources that they hold
    m_isSequential = m_result.isSequential = true;
    m_result.sharePort = namesTakenPort(interruption.error.message());
    m_result.pairs.clear();
    m_observations.clear();
    m_result.peakBytesA = m_result.peakBytesB = 0;
    m_seconds = m_unitsDone = {};
    m_units = {};
    m_sameLosses = {};
    m_equalLosses = {};
    m_history = {};
    m_equalLossSteps = 0;
    m_horizonSum = 0;
    m_state.ratio.reset();
    return true;
}

// Measures the speed of both arms to get the number of steps within the horizon, because a schedule has to end there.
Outcome<void> Driver::planScreening()
{
    if (const auto started = startBoth(0); !started)
        return started;
    std::array<protocol::Hello, 2> hellos;
    for (std::size_t arm = 0; arm < 2; ++arm) {
        const auto hello = greet(*m_arms[arm]);
        if (!hello)
            return tl::unexpected(hello.error());
        hellos[arm] = *hello;
    }
    m_validates = hellos[0].validationSamples > 0 && hellos[1].validationSamples > 0;
    if (!m_validates && changesTrainingSamples(m_plan))
        return tl::unexpected(failure<"experiment.augmentation_differs",
                                      "The losses cannot be compared: the arms augment their samples differently">(
            Error::Code::Unsupported, m_programs.name(1),
            "reserve samples for validation (dataset.validation_share), which are not augmented"));
    reportDoing("warming up");
    const std::array<Arm*, 2> arms = {m_arms[0].get(), m_arms[1].get()};
    const auto warm = warmUp(arms, "steps", m_drop, m_limits);
    if (!warm)
        return tl::unexpected(warm.error());
    std::int64_t slow = 0;
    for (std::size_t arm = 0; arm < 2; ++arm) {
        noteWarmUp(arm, (*warm)[arm]);
        m_unitSeconds[arm] = (*warm)[arm].unitSeconds;
        slow = std::max(slow, (*warm)[arm].slow);
    }
    // The first steps allocate memory and load libraries, which does not matter in a training run of hours.
    m_untimedSteps = m_drop + slow;
    const auto begin = Clock::now();
    if (m_validates)
        if (const auto loss = validate(0); !loss)
            return tl::unexpected(loss.error());
    m_validationSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const std::int64_t planned = m_programs.plannedSteps(0, hellos[0]);
    m_horizon = horizonSeconds(m_plan, std::max(m_unitSeconds[0], m_unitSeconds[1]),
                               static_cast<double>(planned) * m_unitSeconds[0], overheadSeconds());
    for (std::size_t arm = 0; arm < 2; ++arm) {
        auto rescaled = m_programs.setLength(arm, m_untimedSteps + std::llround(m_horizon / m_unitSeconds[arm]),
                                             m_programs.plannedSteps(arm, hellos[arm]));
        if (!rescaled)
            return tl::unexpected(rescaled.error());
        m_result.rescaled[arm] = std::move(*rescaled);
    }
    return {};
}

Outcome<void> Driver::observeSeed()
{
    for (;;) {
        m_now = {};
        m_history.restart();
        std::vector<TurnConditions> conditions;
        std::array<double, 2> losses{};
        if (const auto trained = trainSeed(conditions, losses); !trained)
            return trained;
        const bool disturbed = noteDisturbance(conditions);
        if (disturbed && m_result.noise.repeatedPairs < kMostRepeatedSeeds) {
            ++m_result.noise.repeatedPairs;
            continue;
        }
        if (const auto added = m_equalLosses.add(losses, largestFinite(m_now.untrained[0], m_now.untrained[1])); !added)
            return tl::unexpected(Interruption{Interruption::Why::Failed, added.error()});
        m_result.noise.disturbedPairs += disturbed ? 1 : 0;
        for (const TurnConditions& turn : conditions)
            add(m_result.noise, turn);
        m_equalLossSteps +=
            m_validates ? 1
                        : std::min(m_now.curves[0].stepsAtEndOf(m_horizon), m_now.curves[1].stepsAtEndOf(m_horizon));
        m_horizonSum += m_horizon;
        const auto speed = [&](std::size_t arm) { return m_now.samples[arm] / m_now.curves[arm].seconds(); };
        m_result.pairs.push_back({speed(0), speed(1), std::log(speed(1) / speed(0))});
        m_observations.push_back(m_equalLosses.result().seeds.back().logRatio);
        m_history.endSeed();
        m_now = {};
        return {};
    }
}

Outcome<void> Driver::trainSeed(std::vector<TurnConditions>& conditions, std::array<double, 2>& losses)
{
    const std::size_t seed = m_observations.size();
    if (const auto started = startBoth(seed); !started)
        return started;
    for (const auto& arm : m_arms)
        if (const auto hello = greet(*arm); !hello)
            return tl::unexpected(hello.error());
    for (std::size_t arm = 0; arm < 2; ++arm)
        if (const auto begun = beginLearning(arm); !begun)
            return begun;
    // A B B A, and B A A B with the next seed: half of the time per turn.
    for (const std::size_t half : {0, 1})
        for (const std::size_t arm : turnOrder(seed + half)) {
            m_monitor.begin(ownProcesses());
            const auto learnt = learn(arm, half == 0 ? m_horizon / 2 : m_horizon);
            conditions.push_back(m_monitor.end(ownProcesses()));
            if (!learnt)
                return learnt;
            if (half == 0)
                continue;
            const auto loss = lossAfterTraining(arm);
            if (!loss)
                return tl::unexpected(loss.error());
            losses[arm] = *loss;
        }
    return {};
}

Outcome<void> Driver::beginLearning(std::size_t arm)
{
    const auto patience =
        std::max(kFirstPatience, patienceFor(m_unitSeconds[arm] * static_cast<double>(m_untimedSteps)));
    const auto first = m_arms[arm]->take({"steps", 0, m_untimedSteps}, m_limits, patience);
    if (!first)
        return tl::unexpected(first.error());
    m_now.untrained[arm] = first->losses.empty() ? 0 : first->losses.front();
    return {};
}

Outcome<void> Driver::learn(std::size_t arm, double untilSeconds)
{
    LearningCurve& curve = m_now.curves[arm];
    for (double stepSeconds = m_unitSeconds[arm];;) {
        const double left = untilSeconds - curve.seconds();
        // Ends at the step that is closest to the end.
        if (left < stepSeconds / 2)
            return {};
        reportDoing(fmt::format("seed {} of at most {}: {}, {:.0f} of {:.0f} s", m_observations.size() + 1, kMostSeeds,
                                m_programs.name(arm), curve.seconds(), m_horizon));
        const auto count = std::max<std::int64_t>(1, std::llround(std::min(left, kPieceSeconds) / stepSeconds));
        const auto turn =
            m_arms[arm]->take({"steps", 0, count}, m_limits, patienceFor(stepSeconds * static_cast<double>(count)));
        if (!turn)
            return tl::unexpected(turn.error());
        curve.add(turn->seconds, turn->losses);
        m_history.add(arm, *turn);
        stepSeconds = sumOf(turn->seconds) / static_cast<double>(turn->seconds.size());
        m_now.samples[arm] += static_cast<double>(turn->samples);
        countWork(arm, *turn);
    }
}

Outcome<double> Driver::validate(std::size_t arm)
{
    const auto patience =
        m_validationSeconds > 0 ? patienceFor(m_validationSeconds) : std::chrono::seconds(kFirstValidationPatience);
    const auto turn = m_arms[arm]->take({"validation", 0, 1}, m_limits, patience);
    if (!turn)
        return tl::unexpected(turn.error());
    if (turn->losses.empty())
        return tl::unexpected(failure<"trainer.no_validation_loss", "The trainer reports no loss of its validation">(
            Error::Code::Unsupported, m_programs.name(arm),
            "use the stepscope-train that was installed with this version"));
    return turn->losses.back();
}

Outcome<double> Driver::lossAfterTraining(std::size_t arm)
{
    if (m_validates)
        return validate(arm);
    const auto loss = m_now.curves[arm].endOf(m_horizon);
    if (!loss)
        return tl::unexpected(failure<"trainer.no_losses", "The trainer reports no losses">(
            Error::Code::Unsupported, m_programs.name(arm), "check that the trainer reads its data"));
    return *loss;
}

void Driver::updateInterval()
{
    if (m_result.pairs.empty())
        return;
    m_result.samplesPerSecondA = geometricMean(m_result.pairs, &Pair::a);
    m_result.samplesPerSecondB = geometricMean(m_result.pairs, &Pair::b);
    m_result.samplesPerSecond = pairedInterval(m_result.pairs, m_pairsPerStart);
    m_result.samplesPerSecond.value = m_result.samplesPerSecondB / m_result.samplesPerSecondA;
    m_result.judgedRatio = m_memory || m_screens ? ratioInterval(m_observations) : m_result.samplesPerSecond;
}

LossCheck Driver::checkLoss() const
{
    if (m_screens || m_otherBatches) {
        LossCheck check = m_equalLosses.check(m_equalLossSteps);
        check.seedsVary = m_programs.seedsVary();
        if (!check.seedsVary && check.kind != LossKind::NotCompared)
            check.kind = LossKind::NotShown;
        return check;
    }
    LossCheck check = m_sameLosses.result();
    if (!sameBatches(m_plan.changes) || m_programs.haveOtherBatches())
        check.kind = LossKind::NotCompared;
    return check;
}

/// The verdict of a look. Higher speed or less memory pays only if the loss is not worse. nullopt: continue.
std::optional<Verdict> Driver::settle(bool last)
{
    // Repetitions of the same training are not observations of its loss.
    if (m_screens && !m_programs.seedsVary())
        return Verdict::Inconclusive;
    const auto verdict = decide(m_result.judgedRatio, last);
    if (verdict != Verdict::Pays || m_screens)
        return verdict;
    const LossCheck check = checkLoss();
    const LossKind loss = check.kind;
    if (loss == LossKind::Worse)
        return Verdict::DoesNotPay;
    if (loss == LossKind::NotWorse || !mayChangeLoss(m_plan))
        return verdict;
    // Speed or memory alone does not decide. More seeds increase the power of comparable losses, but they do not help
    // if losses cannot be compared.
    if (loss == LossKind::NotShown && check.seedsVary && !last)
        return std::nullopt;
    return Verdict::Inconclusive;
}

Result<ExperimentResult> Driver::interrupted(const Interruption& interruption)
{
    if (interruption.why != Interruption::Why::OutOfTime)
        return tl::unexpected(interruption.error);
    m_result.pairs.resize(std::min(m_result.pairs.size(), m_observations.size() * m_pairsPerStart));
    updateInterval();
    // The end of the time budget does not depend on the data, so it may replace the next planned look.
    const bool looked = m_observations.size() * kPairsPerStart >= kLooks.front();
    return finish(looked ? *settle(true) : Verdict::Inconclusive, true);
}

Result<ExperimentResult> Driver::finish(Verdict verdict, bool outOfTime)
{
    m_arms = {};
    m_result.verdict = verdict;
    const auto unitUs = [&](std::size_t arm) {
        return m_unitsDone[arm] > 0 ? 1e6 * m_seconds[arm] / m_unitsDone[arm] : 0;
    };
    m_result.unitUsA = unitUs(0);
    m_result.unitUsB = unitUs(1);
    // A larger batch does more work per step: this is the time saved on the work of one baseline step.
    const auto saved = [](double of, const Interval& ratio) {
        const auto part = [&](double r) { return of * (1 - 1 / r); };
        return Interval{part(ratio.value), part(ratio.low), part(ratio.high)};
    };
    if (!m_result.pairs.empty())
        m_result.savedUs = saved(m_result.unitUsA, m_result.samplesPerSecond);
    if (m_memory && m_observations.size() >= 2)
        m_result.savedBytes = saved(static_cast<double>(m_result.peakBytesA), m_result.judgedRatio);
    m_result.loss = checkLoss();
    m_result.losses = m_history.seeds();
    if (m_screens || m_equalLosses.seeds() > 0) {
        m_result.lossAtEqualTime = m_equalLosses.result();
        m_result.lossAtEqualTime->validation = m_validates;
        m_result.lossAtEqualTime->seconds =
            m_equalLosses.seeds() > 0 ? m_horizonSum / static_cast<double>(m_equalLosses.seeds()) : m_horizon;
    }
    m_result.why = verdictReason(m_result, outOfTime);
    m_result.notes = verdictNotes(m_result);
    m_result.secondsSpent = secondsSpent();
    return std::move(m_result);
}

void Driver::reportDoing(std::string doing)
{
    m_state.doing = std::move(doing);
    report();
}

/// At most five times per second: progress of one trainer arrives all at once after the driver has waited for the
/// other.
void Driver::reportPreparing(const protocol::Preparing& preparing)
{
    const auto now = Clock::now();
    if (now - m_prepared < kPreparingInterval)
        return;
    m_prepared = now;
    reportDoing(preparing.total > 0 ? fmt::format("{}: {} of {}", preparing.what, preparing.done, preparing.total)
                                    : preparing.what);
}

void Driver::report()
{
    if (!m_progress)
        return;
    m_state.objective = m_plan.objective;
    m_state.pairs = m_result.pairs;
    m_state.secondsSpent = secondsSpent();
    m_state.secondsLeft = secondsLeft();
    if (m_limits.deadline != Clock::time_point::max()) {
        const double left = std::chrono::duration<double>(m_limits.deadline - Clock::now()).count();
        m_state.secondsLeft = std::max(0.0, std::min(m_state.secondsLeft, left));
    }
    m_progress(m_state);
}

double Driver::secondsLeft() const
{
    const std::size_t most = kMostSeeds * m_pairsPerStart, done = std::min(m_result.pairs.size(), most);
    const auto pairsLeft = static_cast<double>(most - done);
    if (m_screens) {
        const double horizon = m_horizon > 0 ? m_horizon : horizonSeconds(m_plan, 0, 0, kStartSeconds);
        double trained = 0; // with this seed
        for (const LearningCurve& curve : m_now.curves)
            trained += std::min(curve.seconds(), horizon);
        return std::max(0.0, pairsLeft * (2 * horizon + overheadSeconds()) - trained);
    }
    if (m_memory)
        return done > 0 ? secondsSpent() / static_cast<double>(done) * pairsLeft
                        : estimatedMemorySeconds(m_plan, 0, kMostSeeds);
    if (m_isSequential && m_sequentialSeconds[0] > 0)
        return pairsLeft * (m_sequentialSeconds[0] + std::max(m_sequentialSeconds[0], m_sequentialSeconds[1]));
    if (m_units[0] == 0)
        return estimatedSeconds(m_plan, 0, most);
    double pairSeconds = 0;
    for (std::size_t arm = 0; arm < 2; ++arm)
        pairSeconds += m_unitSeconds[arm] * static_cast<double>(m_drop + m_units[arm]);
    const double startsLeft = std::ceil(pairsLeft / static_cast<double>(m_pairsPerStart));
    return pairsLeft * pairSeconds + startsLeft * (kStartSeconds + m_warmUpSeconds);
}

} // namespace

Result<ExperimentResult> driveExperiment(const ExperimentSetup& setup)
{
    return Driver(setup).run();
}

} // namespace advisor
