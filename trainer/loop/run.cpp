#include "trainer/loop/run.h"

#include "trainer/loop/host.h"
#include "trainer/loop/step_reports.h"
#include "trainer/memory/peak_memory.h"

namespace trainer {

namespace protocol = config::protocol;
namespace key = config::key;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

std::int64_t plannedSteps(const config::TrainingConfig& config, std::int64_t stepsPerEpoch)
{
    return config[key::steps] > 0 ? config[key::steps] : config[key::epochs] * stepsPerEpoch;
}

namespace {

class Run {
public:
    Run(Training& training, const Surroundings& around)
        : m_training(training), m_around(around), m_reports(around.recording, around.progress),
          m_planned(plannedSteps(around.config, training.stepsPerEpoch()))
    {
    }

    protocol::Done go()
    {
        const auto begin = Clock::now();
        while (!stopped() && m_training.steps() < m_planned)
            epoch();
        m_done.steps = m_training.steps();
        m_done.seconds = Seconds(Clock::now() - begin).count();
        m_done.samplesPerSecond = m_stepSeconds > 0 ? static_cast<double>(m_samples) / m_stepSeconds : 0;
        m_done.peakBytes = peakBytes(m_training.learner().device());
        m_done.stopped = stopped();
        return m_done;
    }

private:
    [[nodiscard]] bool stopped() const { return m_around.commands.stopRequested(); }

    void epoch()
    {
        protocol::EpochProgress report;
        const auto begin = Clock::now();
        m_training.beginEpoch();
        while (!m_training.epochFinished() && m_training.steps() < m_planned) {
            obey();
            if (stopped())
                break;
            step();
        }
        m_reports.flush();
        const Meter::Means train = m_training.takeMeans();
        report.epoch = m_training.epoch();
        report.metric = m_done.metric = metricName(m_training.learner().objective());
        report.trainLoss = m_done.finalLoss = train.loss;
        report.trainAccuracy = train.metric;
        report.epochSeconds = Seconds(Clock::now() - begin).count();
        if (stopped())
            return;
        const auto validation = m_training.validate([this] { return stopped(); });
        if (stopped())
            return;
        report.validationLoss = validation.means.loss;
        report.validationAccuracy = m_done.validationAccuracy = validation.means.metric;
        report.validationSeconds = validation.seconds;
        m_around.progress.report(report);
    }

    void step()
    {
        const std::int64_t index = m_training.steps();
        const Training::Step step = m_training.step();
        m_samples += step.samples;
        m_stepSeconds += step.seconds;
        m_reports.add(index, m_training.epoch(), step.samples, step.seconds, step.loss);
        if (const auto error = m_around.recording.takeError())
            m_around.progress.warn("The trace can no longer be written, the training goes on: " + error->what,
                                   error->where, error->mend);
    }

    // Pause waits here, at the end of a step, for what comes next.
    void obey()
    {
        while (const auto complaint = m_around.commands.takeComplaint())
            m_around.progress.warn("A command was not understood: " + *complaint);
        bool paused = false;
        for (auto command = m_around.commands.take(); command && !stopped();
             command = paused ? m_around.commands.wait() : m_around.commands.take()) {
            if (const auto* record = std::get_if<protocol::Record>(&*command))
                m_training.recordOps(record->steps);
            else if (std::holds_alternative<protocol::Turn>(*command))
                m_around.progress.warn("A turn is only taken by a trainer that was started with --turns");
            else if (const bool pause = std::holds_alternative<protocol::Pause>(*command); pause != paused)
                setPaused(paused = pause);
        }
        if (paused)
            setPaused(false);
    }

    void setPaused(bool paused)
    {
        if (!paused)
            return m_training.unpark();
        m_reports.flush();
        m_training.park();
    }

    Training& m_training;
    const Surroundings& m_around;
    StepReports m_reports;
    std::int64_t m_planned, m_samples = 0;
    double m_stepSeconds = 0;
    protocol::Done m_done;
};

} // namespace

protocol::Done trainThrough(Training& training, const Surroundings& around)
{
    return Run(training, around).go();
}

} // namespace trainer
