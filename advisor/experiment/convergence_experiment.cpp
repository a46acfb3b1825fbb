#include "advisor/experiment/equal_time.h"
#include "advisor/experiment/experiment_run.h"
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
namespace key = config::key;
using profiler::Error;
using profiler::Result;
using Clock = Bounds::Clock;

namespace {

constexpr std::size_t kMostSeeds = kLooks.back() / kPairsPerStart;
// So long a trainer says nothing, and so often one sees how far it is.
constexpr double kPieceSeconds = 1;
// How long a validation takes is not known before the first.
constexpr std::chrono::hours kFirstValidationPatience{24};

bool changesTrainingSamples(const ExperimentPlan& plan)
{
    return std::any_of(plan.changes.begin(), plan.changes.end(),
                       [](const Toggle& change) { return change.key.starts_with("augment."); });
}

/// Of those that are numbers; none: no number.
double largestFinite(double a, double b)
{
    if (!std::isfinite(a) || !std::isfinite(b))
        return std::isfinite(a) ? a : b;
    return std::max(a, b);
}

double sum(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

class Convergence {
public:
    explicit Convergence(const ExperimentRun& run)
        : m_run(run), m_bounds(run.bounds), m_configs(run.configs), m_warmUp(stepsToDrop(run.configs))
    {
        m_result.plan = run.plan;
        m_bounds.preparing = [this](const protocol::Preparing& preparing) {
            if (auto text = m_preparing.text(preparing))
                tell(std::move(*text));
        };
    }

    Result<ExperimentResult> go()
    {
        if (const auto planned = planTraining(); !planned)
            return interrupted(planned.error());
        for (;;) {
            if (const auto measured = seed(); !measured)
                return interrupted(measured.error());
            const std::size_t seeds = m_losses.seeds();
            const LossAtEqualTime losses = m_losses.result();
            if (seeds >= 2) {
                m_state.ratio = losses.ratio;
                m_state.savedLoss = losses.saved;
            }
            tell(m_state.doing);
            // A seed is the start of both trainers, of which others give two pairs.
            if (!isLook(seeds * kPairsPerStart))
                continue;
            if (const auto verdict = decide(losses.ratio, seeds == kMostSeeds))
                return finish(*verdict, false);
        }
    }

private:
    struct Arm {
        LearningCurve curve{0};
        double stepSeconds = 0; // latest
        double untrained = 0, loss = 0;
        double samples = 0;
    };

    Outcome<void> planTraining();
    Outcome<void> startBoth(bool withSeed);
    Outcome<void> seed();
    Outcome<void> beginLearning(std::size_t arm);
    Outcome<void> learn(std::size_t arm, double untilSeconds);
    Outcome<void> judge(std::size_t arm);
    Outcome<double> validate(std::size_t arm);
    Outcome<void> keepSeed();
    Result<ExperimentResult> interrupted(const Interruption& interruption);
    Result<ExperimentResult> finish(Verdict verdict, bool outOfTime);
    void setSpeed();
    void tell(std::string doing);
    [[nodiscard]] double overheadSeconds() const { return kStartSeconds + 2 * m_validationSeconds; }

    const ExperimentRun& m_run;
    Bounds m_bounds;
    std::array<config::TrainingConfig, 2> m_configs; // trained as long as the horizon
    std::int64_t m_warmUp;                           // steps at the start that both do untimed
    std::vector<TrainerArm> m_arms;
    std::array<protocol::Hello, 2> m_hello;
    std::array<Arm, 2> m_learning;
    std::array<double, 2> m_stepSeconds{}; // as planned
    std::array<double, 2> m_seconds{}, m_steps{};
    double m_horizon = 0, m_validationSeconds = 0;
    bool m_validates = false;
    EqualTimeLosses m_losses;
    LossComparison m_parity;
    PreparingTold m_preparing;
    ExperimentProgress m_state;
    ExperimentResult m_result;
};

Outcome<void> Convergence::startBoth(bool withSeed)
{
    tell("starting the trainers");
    m_arms.clear();
    for (std::size_t arm = 0; arm < 2; ++arm) {
        const auto config = withSeed ? withSeedOfStart(m_configs[arm], m_losses.seeds()) : m_configs[arm];
        auto started = TrainerArm::start(m_run.program, config, m_run.names[arm]);
        if (!started)
            return tl::unexpected(started.error());
        m_arms.push_back(std::move(*started));
    }
    for (std::size_t arm = 0; arm < 2; ++arm) {
        const auto hello = m_arms[arm].hello(m_bounds);
        if (!hello)
            return tl::unexpected(hello.error());
        m_hello[arm] = *hello;
    }
    return {};
}

// How fast both are, and so how many steps the horizon has: a schedule is to come to its end there.
Outcome<void> Convergence::planTraining()
{
    if (const auto started = startBoth(false); !started)
        return started;
    m_validates = m_hello[0].validationSamples > 0 && m_hello[1].validationSamples > 0;
    if (!m_validates && changesTrainingSamples(m_run.plan))
        return tl::unexpected(Interruption{
            Interruption::Why::Failed,
            {Error::Code::Unsupported,
             "Losses of samples that are augmented in another way are no measure of each other", m_run.names[1],
             "keep samples for a validation (dataset.validation_share), which are not augmented"}});
    tell("warming up");
    const auto step = warmUp(m_arms, "steps", m_warmUp, m_bounds);
    if (!step)
        return tl::unexpected(step.error());
    m_stepSeconds = *step;
    const auto begin = Clock::now();
    if (m_validates)
        if (const auto loss = validate(0); !loss)
            return tl::unexpected(loss.error());
    m_validationSeconds = std::chrono::duration<double>(Clock::now() - begin).count();
    const auto& baseline = m_run.plan.baseline;
    const auto planned =
        baseline[key::steps] > 0 ? baseline[key::steps] : baseline[key::epochs] * m_hello[0].stepsPerEpoch;
    m_horizon = horizonSeconds(m_run.plan, std::max(m_stepSeconds[0], m_stepSeconds[1]),
                               static_cast<double>(planned) * m_stepSeconds[0], overheadSeconds());
    for (std::size_t arm = 0; arm < 2; ++arm) {
        const auto steps = m_warmUp + std::llround(m_horizon / m_stepSeconds[arm]);
        if (const auto set = m_configs[arm].set(key::steps.name, std::to_string(steps)); !set)
            return tl::unexpected(Interruption{Interruption::Why::Failed,
                                               {Error::Code::Invalid, set.error().message(), m_run.names[arm], {}}});
    }
    return {};
}

Outcome<void> Convergence::seed()
{
    if (const auto started = startBoth(true); !started)
        return started;
    for (std::size_t arm = 0; arm < 2; ++arm)
        if (const auto begun = beginLearning(arm); !begun)
            return begun;
    // A B B A, and B A A B with the next seed: half of the time at a turn.
    for (const std::size_t half : {0, 1})
        for (const std::size_t arm : turnOrder(m_losses.seeds() + half)) {
            if (const auto learnt = learn(arm, half == 0 ? m_horizon / 2 : m_horizon); !learnt)
                return learnt;
            if (half == 1)
                if (const auto judged = judge(arm); !judged)
                    return judged;
        }
    return keepSeed();
}

// The first steps pay for memory and libraries, which a training of hours does not feel: both do as many, untimed.
Outcome<void> Convergence::beginLearning(std::size_t arm)
{
    m_learning[arm] = {.curve = LearningCurve(m_horizon), .stepSeconds = m_stepSeconds[arm]};
    const auto patience = std::max(kFirstPatience, patienceFor(m_stepSeconds[arm] * static_cast<double>(m_warmUp)));
    const auto first = m_arms[arm].take({"steps", 0, m_warmUp}, m_bounds, patience);
    if (!first)
        return tl::unexpected(first.error());
    m_learning[arm].untrained = first->losses.empty() ? 0 : first->losses.front();
    return {};
}

Outcome<void> Convergence::learn(std::size_t arm, double untilSeconds)
{
    Arm& learning = m_learning[arm];
    for (;;) {
        const double left = untilSeconds - learning.curve.seconds();
        const auto steps = std::llround(std::min(left, kPieceSeconds) / learning.stepSeconds);
        // The nearest step ends it.
        if (left < learning.stepSeconds / 2)
            return {};
        tell(fmt::format("seed {} of at most {}: {}, {:.0f} of {:.0f} s", m_losses.seeds() + 1, kMostSeeds,
                         m_run.names[arm], learning.curve.seconds(), m_horizon));
        const std::int64_t count = std::max<std::int64_t>(1, steps);
        const auto turn = m_arms[arm].take({"steps", 0, count}, m_bounds,
                                           patienceFor(learning.stepSeconds * static_cast<double>(count)));
        if (!turn)
            return tl::unexpected(turn.error());
        learning.curve.add(turn->seconds, turn->losses);
        learning.stepSeconds = sum(turn->seconds) / static_cast<double>(turn->seconds.size());
        learning.samples += static_cast<double>(turn->samples);
        m_seconds[arm] += sum(turn->seconds);
        m_steps[arm] += static_cast<double>(turn->seconds.size());
        std::int64_t& peak = arm == 0 ? m_result.peakBytesA : m_result.peakBytesB;
        peak = std::max(peak, turn->peakBytes);
    }
}

Outcome<double> Convergence::validate(std::size_t arm)
{
    const auto patience =
        m_validationSeconds > 0 ? patienceFor(m_validationSeconds) : std::chrono::seconds(kFirstValidationPatience);
    const auto turn = m_arms[arm].take({"validation", 0, 1}, m_bounds, patience);
    if (!turn)
        return tl::unexpected(turn.error());
    if (turn->losses.empty())
        return tl::unexpected(Interruption{Interruption::Why::Failed,
                                           {Error::Code::Unsupported, "The trainer reports no loss of its validation",
                                            m_run.names[arm], "use the trainer that came with this program"}});
    return turn->losses.back();
}

Outcome<void> Convergence::judge(std::size_t arm)
{
    if (m_validates) {
        const auto loss = validate(arm);
        if (!loss)
            return tl::unexpected(loss.error());
        m_learning[arm].loss = *loss;
        return {};
    }
    const auto loss = m_learning[arm].curve.end();
    if (!loss)
        return tl::unexpected(Interruption{Interruption::Why::Failed,
                                           {Error::Code::Unsupported, "The trainer reports no losses", m_run.names[arm],
                                            "see that its data are read"}});
    m_learning[arm].loss = *loss;
    return {};
}

Outcome<void> Convergence::keepSeed()
{
    const std::array<double, 2> losses = {m_learning[0].loss, m_learning[1].loss};
    if (const auto added = m_losses.add(losses, largestFinite(m_learning[0].untrained, m_learning[1].untrained));
        !added)
        return tl::unexpected(Interruption{Interruption::Why::Failed, added.error()});
    m_parity.nextSeed();
    m_parity.add(std::span(&losses[0], 1), std::span(&losses[1], 1));
    const auto speed = [&](std::size_t arm) { return m_learning[arm].samples / m_learning[arm].curve.seconds(); };
    m_result.pairs.push_back({speed(0), speed(1), std::log(speed(1) / speed(0))});
    m_learning = {};
    return {};
}

Result<ExperimentResult> Convergence::interrupted(const Interruption& interruption)
{
    if (interruption.why != Interruption::Why::OutOfTime)
        return tl::unexpected(interruption.error);
    // As with turns: the end of the time takes the place of the next planned look.
    const bool looked = m_losses.seeds() * kPairsPerStart >= kLooks.front();
    return finish(looked ? *decide(m_losses.result().ratio, true) : Verdict::Inconclusive, true);
}

Result<ExperimentResult> Convergence::finish(Verdict verdict, bool outOfTime)
{
    m_arms.clear();
    m_result.verdict = verdict;
    m_result.lossAtEqualTime = m_losses.result();
    m_result.lossAtEqualTime->validation = m_validates;
    m_result.lossAtEqualTime->seconds = m_horizon;
    const auto parity = m_parity.result();
    m_result.lossA = parity.a;
    m_result.lossB = parity.b;
    m_result.lossParity = parity.parity;
    m_result.lossTolerance = parity.tolerance;
    setSpeed();
    m_result.why = explainLearning(m_result, outOfTime);
    return std::move(m_result);
}

void Convergence::setSpeed()
{
    std::vector<double> speeds; // each seed has processes of its own
    for (const Pair& pair : m_result.pairs)
        speeds.push_back(pair.logRatio);
    setSpeeds(m_result, speeds);
    const auto unitUs = [&](std::size_t arm) { return m_steps[arm] > 0 ? 1e6 * m_seconds[arm] / m_steps[arm] : 0; };
    m_result.unitUsA = unitUs(0);
    m_result.unitUsB = unitUs(1);
    setSavedTime(m_result);
}

void Convergence::tell(std::string doing)
{
    m_state.doing = std::move(doing);
    m_state.pairs = m_result.pairs;
    const double horizon = m_horizon > 0 ? m_horizon : horizonSeconds(m_run.plan, 0, 0, kStartSeconds);
    double trained = 0; // with this seed
    if (m_arms.size() == 2)
        for (const Arm& arm : m_learning)
            trained += std::min(arm.curve.seconds(), horizon);
    const auto left = static_cast<double>(kMostSeeds - m_losses.seeds());
    m_state.secondsLeft = std::max(0.0, left * (2 * horizon + overheadSeconds()) - trained);
    m_run.tell(m_state);
}

} // namespace

Result<ExperimentResult> measureConvergence(const ExperimentRun& run)
{
    return Convergence(run).go();
}

} // namespace advisor
