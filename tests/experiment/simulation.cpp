#include "tests/experiment/simulation.h"

#include "advisor/experiment/turn_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace experiment_test {

using advisor::Verdict;

namespace {

class Turns {
public:
    Turns(const Machine& machine, double trueRatio, std::uint64_t seed)
        : m_machine(machine), m_logRatio(std::log(trueRatio)), m_random(seed)
    {
        m_drift = m_machine.drift * m_normal(m_random);
    }

    double pair(std::size_t index)
    {
        if (advisor::startsFresh(index))
            for (double& process : m_process)
                process = m_machine.processes * m_normal(m_random);
        std::array<double, 2> speed{};
        for (const std::size_t arm : advisor::turnOrder(index))
            speed[arm] = turn() + m_process[arm] + (arm == 1 ? m_logRatio : 0);
        return speed[1] - speed[0];
    }

private:
    double turn()
    {
        // AR(1) with a constant variance.
        const double fresh = std::sqrt(1 - m_machine.memory * m_machine.memory);
        m_drift = m_machine.memory * m_drift + fresh * m_machine.drift * m_normal(m_random);
        const bool disturbed = m_uniform(m_random) < m_machine.outliers;
        return m_drift + m_machine.noise * m_normal(m_random) - (disturbed ? std::log1p(m_uniform(m_random) / 3) : 0);
    }

    Machine m_machine;
    double m_logRatio, m_drift = 0;
    std::array<double, 2> m_process{};
    std::mt19937_64 m_random;
    std::normal_distribution<double> m_normal;
    std::uniform_real_distribution<double> m_uniform;
};

using Pairs = std::vector<advisor::Pair>;

Simulated judged(const Machine& machine, double trueRatio, std::uint64_t seed,
                 std::vector<double> (*observations)(const Pairs&))
{
    Turns turns(machine, trueRatio, seed);
    Pairs pairs;
    for (;;) {
        pairs.push_back({0, 0, turns.pair(pairs.size())});
        if (!advisor::isLook(pairs.size()))
            continue;
        const auto ratio = advisor::ratioInterval(observations(pairs));
        if (const auto verdict = advisor::decide(ratio, pairs.size() == advisor::kLooks.back()))
            return {*verdict, ratio, pairs.size()};
    }
}

std::vector<double> eachPair(const Pairs& pairs)
{
    std::vector<double> result;
    for (const advisor::Pair& pair : pairs)
        result.push_back(pair.logRatio);
    return result;
}

} // namespace

Simulated simulate(const Machine& machine, double trueRatio, std::uint64_t seed)
{
    return judged(machine, trueRatio, seed, advisor::startMeans);
}

bool pairsClaim(const Machine& machine, std::uint64_t seed)
{
    const Verdict verdict = judged(machine, 1, seed, eachPair).verdict;
    return verdict == Verdict::Pays || verdict == Verdict::Costs;
}

bool peekingExcludesOne(const Machine& machine, std::uint64_t seed)
{
    Turns turns(machine, 1, seed);
    std::vector<double> logRatios;
    for (std::size_t pair = 0; pair < advisor::kLooks.back(); ++pair) {
        logRatios.push_back(turns.pair(pair));
        const auto ratio = advisor::ratioInterval(logRatios, 0.05);
        if (logRatios.size() >= 4 && (ratio.low > 1 || ratio.high < 1))
            return true;
    }
    return false;
}

} // namespace experiment_test
