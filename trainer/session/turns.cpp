#include "trainer/memory/peak_memory.h"
#include "trainer/session/run.h"
#include "trainer/session/run_files.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace trainer {

namespace protocol = config::protocol;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

namespace {

// The first rank receives the turns and shares them with the others as numbers in an all-reduce.
constexpr std::array<std::string_view, 3> kUnits = {"steps", "epoch", "validation"};

class Turns {
public:
    Turns(Training& training, const Surroundings& around)
        : m_training(training), m_around(around), m_first(!around.group || around.group->rank() == 0),
          m_files(around.config, around.recording, around.progress, m_first)
    {
    }

    protocol::Done run()
    {
        const auto begin = Clock::now();
        m_training.park();
        while (!m_stopped)
            m_first ? handleCommand(m_around.commands.wait()) : follow();
        const Meter::Means means = m_training.takeMeans();
        m_done.finalLoss = means.loss;
        m_done.steps = m_training.steps();
        m_done.seconds = Seconds(Clock::now() - begin).count();
        m_done.samplesPerSecond = m_timed > 0 ? static_cast<double>(m_samples) / m_timed : 0;
        m_done.peakBytes = peakBytes(m_training.trainStep().device());
        m_done.peakOf = peakOf(m_training.trainStep().device());
        m_done.stopped = true;
        return m_done;
    }

private:
    // All ranks must stop at the same place, otherwise the remaining ranks would wait for the others.
    bool stopped()
    {
        const bool here = m_around.commands.stopRequested();
        m_stopped = m_around.group ? m_around.group->anyOf(here) : here;
        return m_stopped;
    }

    void handleCommand(const protocol::Command& command)
    {
        while (const auto complaint = m_around.commands.takeComplaint())
            m_around.progress.warn(notUnderstood(*complaint));
        if (const auto* record = std::get_if<protocol::Record>(&command))
            m_training.recordOps(record->steps);
        else if (std::holds_alternative<protocol::Stop>(command))
            share(std::nullopt);
        else if (const auto* turn = std::get_if<protocol::Turn>(&command))
            share(*turn);
        // Pause and Resume are ignored: the trainer is paused between turns, and a turn is timed.
    }

    /// @param turn  nullopt: the run is over
    void share(const std::optional<protocol::Turn>& turn)
    {
        const auto unit = std::find(kUnits.begin(), kUnits.end(), turn ? turn->what : kUnits.front());
        std::vector<double> numbers = {turn ? 1.0 : 0.0, static_cast<double>(unit - kUnits.begin()),
                                       turn ? static_cast<double>(turn->drop) : 0.0,
                                       turn ? static_cast<double>(turn->count) : 0.0};
        if (m_around.group)
            m_around.group->addUp(numbers);
        m_stopped = !turn;
        if (turn)
            take(*turn);
    }

    /// Executed by all ranks except the first.
    void follow()
    {
        std::vector<double> numbers(4, 0.0);
        m_around.group->addUp(numbers);
        m_stopped = numbers[0] == 0;
        if (!m_stopped)
            take({std::string(kUnits.at(static_cast<std::size_t>(numbers[1]))), static_cast<std::int64_t>(numbers[2]),
                  static_cast<std::int64_t>(numbers[3])});
    }

    void take(const protocol::Turn& turn)
    {
        m_result = {};
        m_result.what = turn.what;
        m_losses.clear();
        m_training.unpark();
        for (std::int64_t i = 0; i < turn.drop + turn.count && !stopped(); ++i) {
            // Work of the dropped steps must not overlap the timed steps.
            if (i == turn.drop)
                m_training.trainStep().synchronize();
            once(turn.what, i >= turn.drop, i + 1 == turn.drop + turn.count);
        }
        m_training.park();
        if (m_stopped || stopped())
            return;
        gather();
        m_samples += m_result.samples;
        m_around.progress.report(m_result);
    }

    // Collects the results of a turn over all ranks. Done at the end, because reading a loss back in every step would
    // wait for the device.
    void gather()
    {
        std::vector<double> sums; // per step: sum of its losses and their number, at most one from each rank
        for (const at::Tensor& loss : m_losses)
            sums.insert(sums.end(), {loss.defined() ? loss.item<double>() : 0.0, loss.defined() ? 1.0 : 0.0});
        const std::size_t steps = sums.size();
        sums.resize(steps + static_cast<std::size_t>(m_training.ranks()) + 1);
        const auto peaks = sums.begin() + static_cast<std::ptrdiff_t>(steps);
        peaks[m_around.group ? m_around.group->rank() : 0] =
            static_cast<double>(peakTensorBytes(m_training.trainStep().device()));
        sums.back() = static_cast<double>(m_result.samples);
        if (m_around.group)
            m_around.group->addUp(sums);
        for (std::size_t i = 0; i < steps; i += 2)
            if (sums[i + 1] > 0)
                m_result.losses.push_back(sums[i] / sums[i + 1]);
        // The rank with the highest peak.
        m_result.peakBytes = static_cast<std::int64_t>(*std::max_element(peaks, sums.end() - 1));
        m_result.samples = static_cast<std::int64_t>(sums.back());
    }

    void once(const std::string& what, bool timed, bool last)
    {
        const auto begin = Clock::now();
        std::int64_t samples = 0;
        if (what == "steps")
            samples = step(timed);
        else if (what == "epoch")
            samples = epoch();
        else
            samples = validation(timed);
        // A step's share of the device's work is only known when the last step ends, so the last step waits for all of
        // it; epochs and validations always end with a wait.
        if (what != "steps" || last)
            m_training.trainStep().synchronize();
        if (!timed)
            return;
        m_result.samples += samples;
        m_result.seconds.push_back(Seconds(Clock::now() - begin).count());
        m_timed += m_result.seconds.back();
    }

    // The start of an epoch counts towards its first step: a normal run has this cost as well.
    std::int64_t step(bool timed)
    {
        if (m_training.epochFinished())
            m_training.beginEpoch();
        const std::int64_t index = m_training.steps();
        const Training::Step step = m_training.step();
        m_files.stepDone(index, step, Seconds(Clock::now() - m_begin).count(), m_training);
        if (timed)
            m_losses.push_back(step.lossOnDevice);
        return step.samples;
    }

    std::int64_t epoch()
    {
        std::int64_t samples = 0;
        m_training.beginEpoch();
        while (!m_training.epochFinished() && !stopped())
            samples += m_training.step().samples;
        return samples;
    }

    std::int64_t validation(bool timed)
    {
        // Its means are over all ranks, which are combined only at the end of the pass.
        const auto validation = m_training.validate([this] { return m_around.commands.stopRequested(); });
        if (timed)
            m_result.losses.push_back(validation.means.loss);
        return validation.samples;
    }

    Training& m_training;
    const Surroundings& m_around;
    bool m_first, m_stopped = false;
    RunFiles m_files; // the cost of writing files is part of a step
    Clock::time_point m_begin = Clock::now();
    protocol::TurnResult m_result;
    std::vector<at::Tensor> m_losses; // of each timed step; undefined if it had no samples
    protocol::Done m_done;
    std::int64_t m_samples = 0;
    double m_timed = 0;
};

} // namespace

protocol::Done trainByTurns(Training& training, const Surroundings& around)
{
    return Turns(training, around).run();
}

} // namespace trainer
