#include "app/services/level_cost_measurer.h"

#include "advisor/experiment/trainer_process.h"
#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/services/job_guard.h"
#include "app/services/level_costs.h"
#include "app/services/notices.h"
#include "app/services/other_load.h"
#include "app/services/trust_store.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/formats/container/tailing_reader.h"

#include <QTemporaryDir>
#include <algorithm>
#include <utility>

namespace app {

namespace {

using profiler::Error;
using profiler::Result;
using profiler::analysis::RecordingCost;

// Operators are recorded in half of the steps, in short alternating windows, because the load of the machine changes
// every second.
constexpr int kEvery = 10, kWindow = 5;
// With one-second steps, a minute gives thirty pairs, which is enough, and a longer wait is not acceptable.
constexpr std::chrono::seconds kLongest{60};
constexpr std::chrono::seconds kUntilFirstStep{300}; ///< time to scan the data and build the model before training
constexpr std::chrono::seconds kUntilEnd{10};        ///< time limit after a stop request, the same as for a run
                                                     ///< (TrainingService::stop)
constexpr std::chrono::milliseconds kPoll{50};

/// The measuring run: the same training with different recording settings and length.
config::TrainingConfig measuredRun(config::TrainingConfig configuration, const std::string& level, int steps)
{
    const std::pair<std::string_view, std::string> settings[] = {
        {config::key::captureEnabled.name, "true"},
        {config::key::captureLevel.name, level},
        {config::key::captureOpsEvery.name, std::to_string(kEvery)},
        {config::key::captureOpsWindow.name, std::to_string(kWindow)},
        {config::key::steps.name, std::to_string(steps)},
        {config::key::checkpointEvery.name, "0"},
        {config::key::logFile.name, ""}};
    for (const auto& [key, value] : settings)
        static_cast<void>(configuration.set(key, value)); // all values are valid according to the knob table
    return configuration;
}

Error cancelled()
{
    return profiler::makeError<"work.cancelled", "cancelled">(Error::Code::Cancelled);
}

/// Follows the trainer until it exits and reports its steps. Asks it to stop when its time is up, and kills it if it
/// does not.
Result<void> follow(advisor::TrainerProcess& trainer, const std::stop_token& stop,
                    const std::function<void(double)>& report)
{
    using Clock = std::chrono::steady_clock;
    auto until = Clock::now() + kUntilFirstStep;
    bool began = false, askedToStop = false;
    for (;;) {
        if (stop.stop_requested()) {
            trainer.kill();
            return tl::unexpected(cancelled());
        }
        if (Clock::now() > until) {
            if (std::exchange(askedToStop, true)) {
                trainer.kill();
                return profiler::fail<"trainer.does_not_end", "the trainer did not stop on request">(
                    Error::Code::Unavailable);
            }
            until = Clock::now() + kUntilEnd;
            static_cast<void>(trainer.send(config::protocol::Stop{}));
        }
        if (const auto progress = trainer.next(kPoll)) {
            if (const auto* step = std::get_if<config::protocol::StepProgress>(&*progress)) {
                if (!std::exchange(began, true) && !askedToStop)
                    until = Clock::now() + kLongest;
                report(static_cast<double>(step->step));
            }
        } else if (const auto exit = trainer.exited()) {
            if (exit->status == 0 && exit->signal == 0)
                return {};
            return tl::unexpected(Error{Error::Code::Unavailable, exit->asMessage(), {}, {}});
        }
    }
}

Result<RecordingCost> measureCost(const config::TrainingConfig& configuration, const std::stop_token& stop,
                                  const std::function<void(double)>& report)
{
    const auto program = advisor::findTrainer();
    if (!program)
        return tl::unexpected(program.error());
    const QTemporaryDir folder;
    if (!folder.isValid())
        return profiler::fail<"files.no_temporary_folder", "cannot create a temporary folder">(
            Error::Code::Io, folder.errorString().toStdString(), "free disk space");
    const std::filesystem::path trace = folder.filePath("trace.sstrace").toStdString();
    auto trainer = advisor::TrainerProcess::start(configuration, {*program, trace, false});
    if (!trainer)
        return tl::unexpected(trainer.error());
    if (const auto followed = follow(**trainer, stop, report); !followed)
        return tl::unexpected(followed.error());
    const auto read = profiler::container::readTrace(trace);
    if (!read)
        return tl::unexpected(read.error());
    const auto cost = profiler::analysis::recordingCost(profiler::analysis::findSteps(**read));
    if (!cost)
        return profiler::fail<"overhead.too_few_steps", "too few steady-state steps to measure the recording overhead">(
            Error::Code::Unavailable, {},
            "run this configuration for more steps: a training run also measures the "
            "overhead");
    return *cost;
}

} // namespace

LevelCostMeasurer::LevelCostMeasurer(Notices* notices, ConfigurationModel* configuration, TrustStore* trust,
                                     JobGuard* jobs, const TraceDocument* document)
    : m_notices(notices), m_configuration(configuration), m_trust(trust), m_jobs(jobs)
{
    connect(document, &TraceDocument::analysedChanged, this, [this, document] {
        const auto& run = document->configuration();
        if (!document->isOwnRun() || !document->analysed() || !run)
            return;
        if (const auto cost = profiler::analysis::recordingCost(document->analysed()->facts.steps)) {
            keepLevelCost(*run, *cost);
            emit changed();
        }
    });
}

LevelCostMeasurer::~LevelCostMeasurer()
{
    m_thread.cancel();
}

const std::vector<std::string>& LevelCostMeasurer::levels()
{
    static const std::vector<std::string> s_levels = {"standard", "full"};
    return s_levels;
}

void LevelCostMeasurer::measure()
{
    // A training at the same time would share the CPU with it.
    if (!m_jobs->mayStart() || !m_configuration->commitEdits())
        return;
    m_trust->passTraining([this] {
        if (m_jobs->mayStart())
            start(m_configuration->get());
    });
}

void LevelCostMeasurer::start(const config::TrainingConfig& configuration, int steps)
{
    if (m_measuring)
        return;
    m_measuring = true;
    m_jobs->begin(Job::RecordingCost, [this] { cancel(); });
    emit progressed({}, 0);
    m_thread.start(
        [this, configuration, steps](const std::stop_token& stop, const Background::Post& post) {
            QString message;
            for (std::size_t i = 0; i < levels().size() && message.isEmpty() && !stop.stop_requested(); ++i) {
                const config::TrainingConfig run = measuredRun(configuration, levels()[i], steps);
                const auto report = [&, name = QString::fromStdString(levels()[i])](double done) {
                    const double all =
                        (static_cast<double>(i) + std::min(1.0, done / steps)) / static_cast<double>(levels().size());
                    post([this, name, all] { emit progressed(name, all); });
                };
                report(0);
                const OtherLoad load;
                if (const auto cost = measureCost(run, stop, report))
                    post([this, run, found = *cost, others = load.share()] {
                        keepLevelCost(run, found, others);
                        emit changed();
                        emit measured(run, found, others);
                    });
                else if (cost.error().code != Error::Code::Cancelled)
                    message = QString::fromStdString(cost.error().message());
            }
            post([this, message] { end(message); });
        },
        [this](const Error& error) { end(QString::fromStdString(error.message())); });
}

void LevelCostMeasurer::end(const QString& message)
{
    m_measuring = false;
    emit progressed({}, 1);
    m_jobs->end(Job::RecordingCost);
    if (!message.isEmpty())
        emit m_notices->noticed(tr("The recording overhead was not measured."), message, true);
    emit ended(message);
}

void LevelCostMeasurer::cancel()
{
    m_thread.requestStop();
}

} // namespace app
