#include "trainer/session/run.h"

#include "profiler/model/failure.h"
#include "trainer/memory/peak_memory.h"
#include "trainer/session/host.h"
#include "trainer/session/range_test.h"
#include "trainer/session/run_files.h"
#include "trainer/session/step_reports.h"

#include <cmath>
#include <deque>
#include <future>

namespace trainer {

namespace protocol = config::protocol;
namespace key = config::key;
using profiler::message;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

std::int64_t plannedSteps(const config::TrainingConfig& config, std::int64_t stepsPerEpoch)
{
    return config[key::steps] > 0 ? config[key::steps] : config[key::epochs] * stepsPerEpoch;
}

namespace {

std::string lossText(double loss)
{
    return std::isnan(loss) ? "not a number" : "infinite";
}

class Run {
public:
    Run(Training& training, const Surroundings& around)
        : m_training(training), m_around(around), m_reports(around.recording, around.progress),
          m_files(around.config, around.recording, around.progress, !around.group || around.group->rank() == 0,
                  training.steps()),
          m_ranks(around.group ? around.group->size() : 1),
          m_planned(plannedSteps(around.config, training.stepsPerEpoch()))
    {
        if (around.config[key::schedule] == "range_test")
            m_range.emplace();
    }

    protocol::Done run()
    {
        agree();
        if (m_training.takeEpochEnd() && !stopped())
            endEpoch(Clock::now());
        while (!stopped() && !finished())
            epoch();
        m_done.seconds = elapsed();
        m_files.finish();
        m_done.steps = m_training.steps();
        m_done.samples = m_training.samples() * m_ranks;
        m_done.skipped = m_training.trainStep().weights().skipped();
        m_done.samplesPerSecond = m_stepSeconds > 0 ? static_cast<double>(m_samples) / m_stepSeconds : 0;
        m_done.peakBytes = peakBytes(m_training.trainStep().device());
        m_done.peakOf = peakOf(m_training.trainStep().device());
        m_done.stopped = stopped();
        reportSkips();
        reportRange();
        reportGraph();
        return m_done;
    }

private:
    // All ranks must stop at the same step, otherwise the remaining ranks would wait for the others.
    void agree()
    {
        m_rangeOver = m_range && m_range->diverged();
        if (!m_around.group)
            return;
        m_agreed = m_around.group->anyOf(m_around.commands.stopRequested());
        if (m_range)
            m_rangeOver = m_around.group->anyOf(m_rangeOver);
    }
    [[nodiscard]] bool stopped() const { return m_around.group ? m_agreed : m_around.commands.stopRequested(); }
    [[nodiscard]] bool finished() const { return m_training.steps() >= m_planned || m_rangeOver; }
    [[nodiscard]] double elapsed() const { return Seconds(Clock::now() - m_begin).count(); }

    void epoch()
    {
        const auto begin = Clock::now();
        m_training.beginEpoch();
        while (!m_training.epochFinished() && !finished()) {
            handleCommands();
            agree();
            if (stopped() || finished())
                break;
            step();
        }
        endEpoch(begin);
    }

    // Reads the epoch's means and validates.
    void endEpoch(Clock::time_point begin)
    {
        protocol::EpochProgress report;
        const Meter::Means train = m_training.takeMeans();
        if (const auto loss = checkLosses(true))
            m_reports.setLoss(*loss);
        m_reports.flush();
        report.epoch = m_training.epoch();
        report.metric = m_done.metric = metricName(m_training.trainStep().objective());
        report.trainLoss = m_done.finalLoss = train.loss;
        report.trainAccuracy = train.metric;
        report.epochSeconds = Seconds(Clock::now() - begin).count();
        agree();
        if (stopped())
            return;
        const auto validation = m_training.validate([this] { return m_around.commands.stopRequested(); });
        agree();
        if (stopped())
            return;
        report.validationLoss = validation.means.loss;
        report.validationAccuracy = m_done.validationAccuracy = validation.means.metric;
        report.validationSeconds = validation.seconds;
        report.samples = m_training.samples() * m_ranks;
        report.seconds = elapsed();
        m_around.progress.report(report);
    }

    void step()
    {
        const std::int64_t index = m_training.steps();
        const Training::Step step = m_training.step();
        m_samples += step.samples * m_ranks;
        m_stepSeconds += step.seconds;
        if (step.loss.valid())
            m_losses.push_back({index, step.learningRate, step.loss});
        const auto loss = checkLosses(false);
        m_reports.setTotals(m_training.samples() * m_ranks, elapsed(), step.learningRate,
                            m_training.trainStep().weights().skipped());
        m_reports.add(index, m_training.epoch(), step.samples * m_ranks, step.seconds, loss);
        m_files.stepDone(index, step, elapsed(), m_training);
        if (const auto error = m_around.recording.takeError())
            m_around.progress.warn(
                message<"training.trace_ended", "The trace can no longer be written; the training continues: {why}">(
                    {{"why", error->what.text}, {"error", error->what.id}}),
                error->where, error->hint);
    }

    // @param all  waits for the losses that are still being computed
    // @return the latest loss
    std::optional<double> checkLosses(bool all)
    {
        std::optional<double> last;
        const auto isReady = [](const ReadLoss& read) {
            return read.loss.wait_for(Seconds(0)) == std::future_status::ready;
        };
        while (!m_losses.empty() && (all || isReady(m_losses.front()))) {
            const ReadLoss read = std::move(m_losses.front());
            m_losses.pop_front();
            last = read.loss.get();
            checkLoss(read.step, read.learningRate, *last);
        }
        return last;
    }

    void checkLoss(std::int64_t index, double learningRate, double loss)
    {
        if (m_range)
            return m_range->add(learningRate, loss);
        if (std::isfinite(loss) || m_lossLost)
            return;
        m_lossLost = true;
        if (m_around.config[key::onNan] == "stop")
            profiler::throwError<"training.loss_lost", "The loss is {loss} at step {step}">(
                profiler::Error::Code::Invalid, {},
                "lower optimizer.learning_rate, clip gradients with gradient.clip_norm, or set run.on_nan=continue; "
                "debug.anomaly shows the operator",
                {{"loss", lossText(loss)}, {"step", index}});
        m_around.progress.warn(
            message<"training.loss_lost_goes_on",
                    "The loss is {loss} since step {step} or shortly before; the training continues because of "
                    "run.on_nan">({{"loss", lossText(loss)}, {"step", index}}),
            {}, "lower optimizer.learning_rate, or clip gradients with gradient.clip_norm");
    }

    void reportSkips()
    {
        if (m_done.skipped > 0)
            m_around.progress.inform(
                message<"training.steps_skipped", "FP16 gradients overflowed and their steps were skipped, which is "
                                                  "normal until the loss scale settles">(),
                {}, {}, m_done.skipped);
    }

    void reportRange()
    {
        if (!m_range)
            return;
        m_around.recording.setMetadata("range_test.curve", m_range->toJson());
        const auto best = m_range->steepest();
        if (!best)
            return m_around.progress.warn(message<"range_test.none", "Range test: the loss did not fall at any "
                                                                     "learning rate">(),
                                          {}, "test a wider range or run more steps");
        const std::string rate = config::toText(*best);
        m_around.recording.setMetadata("range_test.steepest", rate);
        m_around.progress.inform(
            message<"range_test.steepest", "Range test: the loss fell fastest at a learning rate of {rate}">(
                {{"rate", *best, rate}}),
            {}, "set optimizer.learning_rate to this rate and schedule.kind to one_cycle or cosine");
    }

    void reportGraph()
    {
        if (m_training.trainStep().graphIsUnused())
            m_around.progress.warn(
                message<"compile.no_graph", "No step ran as a CUDA graph: recording needs a full batch after the third "
                                            "step, and there was none">(),
                std::string(key::compile.name), "train for more steps");
    }

    // Handles commands at the end of a step; after Pause it waits here for the next command.
    void handleCommands()
    {
        while (const auto complaint = m_around.commands.takeComplaint())
            m_around.progress.warn(notUnderstood(*complaint));
        bool paused = false;
        for (auto command = m_around.commands.take(); command && !m_around.commands.stopRequested();
             command = paused ? m_around.commands.wait() : m_around.commands.take()) {
            if (const auto* record = std::get_if<protocol::Record>(&*command))
                m_training.recordOps(record->steps);
            else if (std::holds_alternative<protocol::Turn>(*command))
                m_around.progress.warn(message<"command.turn", "Turns need a trainer that was started with --turns">());
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
    RunFiles m_files;
    struct ReadLoss {
        std::int64_t step;
        double learningRate;
        std::shared_future<double> loss;
    };
    std::deque<ReadLoss> m_losses; // losses that are still being computed
    std::int64_t m_ranks;          // each rank trains on the same number of samples per step
    std::optional<RangeTest> m_range;
    Clock::time_point m_begin = Clock::now();
    std::int64_t m_planned, m_samples = 0;
    double m_stepSeconds = 0;
    bool m_agreed = false, m_rangeOver = false, m_lossLost = false;
    protocol::Done m_done;
};

} // namespace

profiler::Message notUnderstood(const std::string& why)
{
    return message<"command.not_understood", "A command was not understood: {why}">({{"why", why}});
}

protocol::Done trainThrough(Training& training, const Surroundings& around)
{
    return Run(training, around).run();
}

} // namespace trainer
