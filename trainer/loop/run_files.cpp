#include "trainer/loop/run_files.h"

#include "trainer/config/training_config.h"

#include <stdexcept>

namespace trainer {

namespace key = config::key;

RunFiles::RunFiles(const config::TrainingConfig& config, Recording& recording, Progress& progress, bool first)
    : m_recording(recording), m_progress(progress), m_apart(config[key::asyncWork]),
      m_checkpointEvery(first ? config[key::checkpointEvery] : 0), m_folder(config[key::checkpointPath]),
      m_work(m_apart, recording.events())
{
    const std::string path = config[key::logFile];
    if (path.empty() || !first)
        return;
    m_log = std::make_shared<std::ofstream>(path);
    *m_log << "step,seconds,samples,step_seconds,learning_rate,loss\n" << std::flush;
    if (!*m_log)
        throw std::runtime_error("The log cannot be written: " + path);
}

RunFiles::~RunFiles() = default;

void RunFiles::stepDone(std::int64_t number, const Training::Step& step, double seconds, Training& training)
{
    using config::toText;
    if (m_log)
        log(std::to_string(number) + "," + toText(seconds) + "," + std::to_string(training.samples()) + "," +
                toText(step.seconds) + "," + toText(step.learningRate) + ",",
            step.loss);
    if (m_checkpointEvery > 0 && (number + 1) % m_checkpointEvery == 0)
        checkpoint(training);
    tellErrors();
}

void RunFiles::log(std::string line, std::shared_future<double> loss)
{
    std::optional<PhaseRange> phase;
    if (!m_apart)
        phase.emplace(m_recording, Phase::Log);
    m_work.give(profiler::phase::kLog, [file = m_log, line = std::move(line), loss = std::move(loss)] {
        if (!(*file << line << (loss.valid() ? config::toText(loss.get()) : "") << '\n' << std::flush))
            throw std::runtime_error("A line of the log could not be written");
    });
}

void RunFiles::checkpoint(Training& training)
{
    // The copy is taken here in any case: the next step changes the weights.
    const PhaseRange phase(m_recording, Phase::Checkpoint);
    const auto state = std::make_shared<SavedState>(training.save());
    const auto path = m_folder / ("step" + std::to_string(training.steps()) + ".checkpoint");
    m_work.give(profiler::phase::kCheckpoint, [state, sums = training.metricsState(), path] {
        Training::addMetrics(*state, sums.get());
        trainer::save(*state, path);
    });
}

void RunFiles::tellErrors()
{
    while (const auto error = m_work.takeError())
        m_progress.warn(*error, {}, "the training goes on without it");
}

void RunFiles::finish()
{
    m_work.finish();
    tellErrors();
}

} // namespace trainer
