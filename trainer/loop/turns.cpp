#include "trainer/loop/run.h"
#include "trainer/loop/run_files.h"
#include "trainer/memory/peak_memory.h"

#include <ATen/ATen.h>

namespace trainer {

namespace protocol = config::protocol;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

namespace {

class Turns {
public:
    Turns(Training& training, const Surroundings& around)
        : m_training(training), m_around(around), m_files(around.config, around.recording, around.progress, true)
    {
    }

    protocol::Done go()
    {
        const auto begin = Clock::now();
        m_training.park();
        while (!stopped())
            obey(m_around.commands.wait());
        const Meter::Means means = m_training.takeMeans();
        m_done.finalLoss = means.loss;
        m_done.steps = m_training.steps();
        m_done.seconds = Seconds(Clock::now() - begin).count();
        m_done.samplesPerSecond = m_timed > 0 ? static_cast<double>(m_samples) / m_timed : 0;
        m_done.peakBytes = peakBytes(m_training.learner().device());
        m_done.peakOf = peakOf(m_training.learner().device());
        m_done.stopped = true;
        return m_done;
    }

private:
    [[nodiscard]] bool stopped() const { return m_around.commands.stopRequested(); }

    void obey(const protocol::Command& command)
    {
        while (const auto complaint = m_around.commands.takeComplaint())
            m_around.progress.warn("A command was not understood: " + *complaint);
        if (const auto* record = std::get_if<protocol::Record>(&command))
            m_training.recordOps(record->steps);
        else if (const auto* turn = std::get_if<protocol::Turn>(&command))
            take(*turn);
        // Pause and Resume change nothing: between turns it is paused, within one it is timed.
    }

    void take(const protocol::Turn& turn)
    {
        m_result = {};
        m_result.what = turn.what;
        m_losses.clear();
        m_training.unpark();
        for (std::int64_t i = 0; i < turn.drop + turn.count && !stopped(); ++i) {
            // What was dropped must not lap into what is timed.
            if (i == turn.drop)
                m_training.learner().synchronize();
            once(turn.what, i >= turn.drop, i + 1 == turn.drop + turn.count);
        }
        m_training.park();
        if (stopped())
            return;
        // Only now: reading a loss back would have waited for the device in every step.
        for (const at::Tensor& loss : m_losses)
            m_result.losses.push_back(loss.item<double>());
        m_result.peakBytes = peakTensorBytes(m_training.learner().device());
        m_samples += m_result.samples;
        m_around.progress.report(m_result);
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
        // A step's own share of the device's work is not known before the last one ends, which therefore waits for it
        // all; epochs and validations have an end.
        if (what != "steps" || last)
            m_training.learner().synchronize();
        if (!timed)
            return;
        m_result.samples += samples;
        m_result.seconds.push_back(Seconds(Clock::now() - begin).count());
        m_timed += m_result.seconds.back();
    }

    // The start of an epoch belongs to its first step: a run pays for it as well.
    std::int64_t step(bool timed)
    {
        if (m_training.epochFinished())
            m_training.beginEpoch();
        const std::int64_t index = m_training.steps();
        const Training::Step step = m_training.step();
        m_files.stepDone(index, step, Seconds(Clock::now() - m_begin).count(), m_training);
        if (timed && step.lossOnDevice.defined())
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
        const Training::Validation validation = m_training.validate([this] { return stopped(); });
        if (timed)
            m_result.losses.push_back(validation.means.loss);
        return validation.samples;
    }

    Training& m_training;
    const Surroundings& m_around;
    RunFiles m_files; // what it costs to write them is part of a step
    Clock::time_point m_begin = Clock::now();
    protocol::TurnResult m_result;
    std::vector<at::Tensor> m_losses;
    protocol::Done m_done;
    std::int64_t m_samples = 0;
    double m_timed = 0;
};

} // namespace

protocol::Done trainByTurns(Training& training, const Surroundings& around)
{
    return Turns(training, around).go();
}

} // namespace trainer
