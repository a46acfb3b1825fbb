#include "tests/experiment/simulation.h"

#include "advisor/experiment/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace experiment_test {

using advisor::Arm;
using advisor::Outcome;
using advisor::RunLimits;
using advisor::TurnConditions;
using advisor::Verdict;
namespace protocol = config::protocol;

namespace {

constexpr double kStepSeconds = 0.1;

/// Speeds of consecutive turns.
class MachineState {
public:
    MachineState(const Machine& machine, std::uint64_t seed) : m_machine(machine), m_random(seed)
    {
        m_drift = m_machine.drift * m_normal(m_random);
    }
    double process() { return m_machine.processes * m_normal(m_random); }
    double normal() { return m_normal(m_random); }
    /// Logarithm of the speed.
    double turn()
    {
        // AR(1) with a constant variance.
        const double fresh = std::sqrt(1 - m_machine.memory * m_machine.memory);
        m_drift = m_machine.memory * m_drift + fresh * m_machine.drift * m_normal(m_random);
        m_disturbed = m_uniform(m_random) < m_machine.outliers;
        m_seen = m_disturbed && m_uniform(m_random) < m_machine.seen;
        return m_drift + m_machine.noise * m_normal(m_random) - (m_disturbed ? std::log1p(m_uniform(m_random) / 3) : 0);
    }
    [[nodiscard]] bool isDisturbanceSeen() const { return m_seen; }

private:
    Machine m_machine;
    double m_drift = 0;
    bool m_disturbed = false, m_seen = false;
    std::mt19937_64 m_random;
    std::normal_distribution<double> m_normal;
    std::uniform_real_distribution<double> m_uniform;
};

class SimulatedArm final : public Arm {
public:
    SimulatedArm(MachineState& machine, double logSpeed, double loss)
        : m_machine(machine), m_logSpeed(logSpeed), m_loss(loss)
    {
    }
    Outcome<protocol::Hello> hello(const RunLimits&) override
    {
        protocol::Hello hello;
        hello.trainSamples = 1000;
        hello.stepsPerEpoch = 10;
        return hello;
    }
    Outcome<protocol::TurnResult> take(const protocol::Turn& turn, const RunLimits&, std::chrono::seconds) override
    {
        const double speed = std::exp(m_logSpeed + m_machine.turn());
        const auto count = static_cast<std::size_t>(turn.count);
        protocol::TurnResult result;
        result.what = turn.what;
        result.seconds.assign(count, kStepSeconds / speed);
        result.losses.assign(count, m_loss);
        result.samples = 32 * turn.count;
        result.peakBytes = 1'000'000;
        return result;
    }
    void finish() override {}
    [[nodiscard]] std::vector<std::int64_t> processes() const override { return {}; }

private:
    MachineState& m_machine;
    double m_logSpeed, m_loss;
};

class SimulatedArms final : public advisor::Arms {
public:
    SimulatedArms(MachineState& machine, const Programs& programs) : m_machine(machine), m_programs(programs) {}
    [[nodiscard]] std::string name(std::size_t arm) const override { return arm == 0 ? "the baseline" : "the change"; }
    [[nodiscard]] std::string startingText() const override { return "starting both"; }
    Outcome<std::unique_ptr<Arm>> start(std::size_t arm, std::size_t seed) override
    {
        if (arm == 0)
            m_seedLuck = m_programs.seedNoise * m_machine.normal();
        static_cast<void>(seed);
        const double loss =
            std::exp(m_seedLuck + m_programs.lossNoise * m_machine.normal()) * (arm == 1 ? m_programs.lossFactor : 1);
        return std::make_unique<SimulatedArm>(
            m_machine, m_machine.process() + (arm == 1 ? std::log(m_programs.speedUp) : 0), loss);
    }
    [[nodiscard]] std::int64_t stepsToDrop() const override { return 1; }
    [[nodiscard]] std::int64_t plannedSteps(std::size_t, const protocol::Hello&) const override { return 0; }
    Outcome<std::vector<advisor::RescaledSetting>> setLength(std::size_t, std::int64_t, std::int64_t) override
    {
        return std::vector<advisor::RescaledSetting>{};
    }
    [[nodiscard]] std::vector<std::string> warmUpCauses(std::size_t) const override { return {}; }

private:
    MachineState& m_machine;
    Programs m_programs;
    double m_seedLuck = 0;
};

class SimulatedMonitor final : public QuietMonitor {
public:
    explicit SimulatedMonitor(const MachineState& machine) : m_machine(machine) {}
    TurnConditions end(std::span<const std::int64_t> own) override
    {
        TurnConditions turn = QuietMonitor::end(own);
        turn.otherCores = m_machine.isDisturbanceSeen() ? 1.5 : 0.05;
        return turn;
    }

private:
    const MachineState& m_machine;
};

/// Log ratios of pairs, without a driver.
class Pairs {
public:
    Pairs(const Machine& machine, std::uint64_t seed) : m_machine(machine, seed) {}
    double pair(std::size_t index)
    {
        if (advisor::startsFresh(index))
            for (double& process : m_process)
                process = m_machine.process();
        std::array<double, 2> speed{};
        for (const std::size_t arm : advisor::turnOrder(index))
            speed[arm] = m_machine.turn() + m_process[arm];
        return speed[1] - speed[0];
    }

private:
    MachineState m_machine;
    std::array<double, 2> m_process{};
};

} // namespace

advisor::ExperimentResult simulate(const Machine& machine, const Programs& programs, std::uint64_t seed,
                                   advisor::ExperimentPlan plan)
{
    MachineState state(machine, seed);
    SimulatedArms arms(state, programs);
    SimulatedMonitor monitor(state);
    auto result = advisor::driveExperiment({plan, arms, monitor, {}, {}});
    if (!result)
        throw std::runtime_error(result.error().message());
    return std::move(*result);
}

bool pairsClaim(const Machine& machine, std::uint64_t seed)
{
    Pairs pairs(machine, seed);
    std::vector<double> logRatios;
    for (;;) {
        logRatios.push_back(pairs.pair(logRatios.size()));
        if (!advisor::isLook(logRatios.size()))
            continue;
        if (const auto verdict =
                advisor::decide(advisor::ratioInterval(logRatios), logRatios.size() == advisor::kLooks.back()))
            return *verdict == Verdict::Pays || *verdict == Verdict::Costs;
    }
}

bool peekingExcludesOne(const Machine& machine, std::uint64_t seed)
{
    Pairs pairs(machine, seed);
    std::vector<double> logRatios;
    for (std::size_t pair = 0; pair < advisor::kLooks.back(); ++pair) {
        logRatios.push_back(pairs.pair(pair));
        const auto ratio = advisor::ratioInterval(logRatios, 0.05);
        if (logRatios.size() >= 4 && (ratio.low > 1 || ratio.high < 1))
            return true;
    }
    return false;
}

} // namespace experiment_test
