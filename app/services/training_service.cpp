#include "app/services/training_service.h"

#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/services/job_guard.h"
#include "app/services/notices.h"
#include "app/services/run_store.h"
#include "app/services/trust_store.h"
#include "trainer/config/dataset_check.h"

#include <QStringList>
#include <chrono>
#include <utility>

namespace app {

using namespace std::chrono_literals;
namespace protocol = config::protocol;

namespace {
// A trainer that sends many messages must not block painting.
constexpr int kMostRecordsAtOnce = 200;
} // namespace

TrainingService::TrainingService(Notices* notices, ConfigurationModel* configuration, TrustStore* trust, JobGuard* jobs,
                                 RunStore* runs, TraceDocument* document)
    : m_notices(notices), m_configuration(configuration), m_trust(trust), m_jobs(jobs), m_runs(runs),
      m_document(document)
{
    m_exitCheck.setInterval(100ms);
    connect(&m_exitCheck, &QTimer::timeout, this, &TrainingService::drain);
    m_patience.setInterval(10s);
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this, &TrainingService::killForSilence);
    connect(document, &TraceDocument::traceReplaced, this, &TrainingService::clearHistory);
    connect(document, &TraceDocument::followed, this, &TrainingService::sealWhenRead);
    connect(document, &TraceDocument::followed, this, &TrainingService::finished);
}

TrainingService::~TrainingService() = default;

bool TrainingService::isOpen() const
{
    return m_state != RunState::Idle || m_document->isFollowingRun();
}

void TrainingService::start()
{
    if (!m_jobs->mayStart() || !m_configuration->commitEdits())
        return;
    const auto goOn = [this](const std::optional<config::ConfigError>& problem) {
        emit m_configuration->knobProblem(asQString(std::string(config::key::datasetPath.name)),
                                          problem ? asQString(problem->allowed) : QString());
        if (!problem)
            return m_trust->passTraining([this] { startRun(); });
        emit m_notices->noticed(
            tr("Training not started: its dataset cannot be used."),
            asQString(problem->value.empty() ? problem->allowed : problem->value + ": " + problem->allowed), true);
    };
    if (m_configuration->get()[config::key::datasetPath].empty()) // no files to check
        return goOn(config::datasetProblem(m_configuration->get()));
    // A folder on a network share may take seconds to respond, or never respond.
    m_datasetCheck.start(
        [goOn, configuration = m_configuration->get()](const std::stop_token&, const Background::Post& post) {
            post([goOn, problem = config::datasetProblem(configuration)] { goOn(problem); });
        },
        [this](const profiler::Error& error) {
            emit m_notices->noticed(tr("Training not started: its dataset was not checked."),
                                    asQString(error.message()), true);
        });
}

void TrainingService::startRun()
{
    if (!m_jobs->mayStart())
        return;
    const auto run = makeRun(runsRoot(), m_configuration->get());
    if (!run) {
        emit m_notices->noticed(tr("Training not started."), asQString(run.error().message()), true);
        return;
    }
    if (!m_toSeal.empty()) // its trace is no longer followed
        m_runs->seal(std::exchange(m_toSeal, {}), nullptr);
    m_document->stopLoading();
    if (const auto started = startTrainer(run->trace()); !started) {
        static_cast<void>(removeRun(*run)); // the empty folder of a run that did not start
        m_document->settlePart();
        emit m_notices->noticed(tr("Training not started."), asQString(started.error().message()), true);
        return;
    }
    m_runs->open(*run);
    m_document->followRun(run->trace(), run->configuration);
}

profiler::Result<void> TrainingService::startTrainer(const std::filesystem::path& trace)
{
    auto program = advisor::findTrainer();
    if (!program)
        return tl::unexpected(program.error());
    auto process = advisor::TrainerProcess::start(m_configuration->get(), {.program = *program, .trace = trace});
    if (!process)
        return tl::unexpected(process.error());
    m_process = std::move(*process);
    m_asked = m_killedForSilence = false;
    m_done.reset();
    m_notifier = std::make_unique<QSocketNotifier>(m_process->progressDescriptor(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &TrainingService::drain);
    m_exitCheck.start();
    setState(RunState::Starting);
    return {};
}

void TrainingService::clearHistory()
{
    m_steps.clear();
    m_lastLoss.reset();
    m_epochs.clear();
    m_hello.reset();
}

void TrainingService::setState(RunState state)
{
    if (m_state == state)
        return;
    m_state = state;
    if (state == RunState::Starting)
        m_jobs->begin(Job::Training, [this] { stop(); });
    else if (state == RunState::Stopping)
        m_jobs->setStopping(Job::Training);
    else if (state == RunState::Idle)
        m_jobs->end(Job::Training);
    emit stateChanged(state);
}

bool TrainingService::send(const protocol::Command& command)
{
    // If the trainer has died, its exit is reported later, not here.
    return m_process && m_process->send(command).has_value();
}

void TrainingService::pause()
{
    if (m_state == RunState::Running && send(protocol::Pause{}))
        setState(RunState::Paused);
}

void TrainingService::resume()
{
    if (m_state == RunState::Paused && send(protocol::Resume{}))
        setState(RunState::Running);
}

void TrainingService::stop()
{
    if (m_state == RunState::Idle || m_state == RunState::Stopping)
        return;
    m_asked = true;
    if (m_state == RunState::Paused)
        send(protocol::Resume{});
    send(protocol::Stop{});
    m_patience.start();
    setState(RunState::Stopping);
}

void TrainingService::killForSilence()
{
    if (!m_process)
        return;
    m_killedForSilence = true;
    m_process->kill();
}

/// The trace in the document is the content of the file, so that it need not be read again.
void TrainingService::sealWhenRead()
{
    if (m_toSeal.empty() || isOpen())
        return;
    const bool isShown = m_document->isOwnRun() && m_document->path() == m_toSeal;
    m_runs->seal(std::exchange(m_toSeal, {}), isShown ? m_document->trace() : nullptr);
}

void TrainingService::drain()
{
    if (!m_process)
        return;
    for (int i = 0; i < kMostRecordsAtOnce; ++i) {
        const auto progress = m_process->next(0ms);
        if (!progress) {
            // At end of file the descriptor stays readable without data; from here on the timer waits for the exit.
            if (const auto exit = m_process->exited()) {
                // Reads the last messages before the exit.
                while (const auto last = m_process->next(0ms))
                    take(*last);
                finish(*exit);
            }
            return;
        }
        take(*progress);
    }
}

void TrainingService::take(const protocol::Progress& progress)
{
    if (m_state == RunState::Starting && std::holds_alternative<protocol::StepProgress>(progress))
        setState(RunState::Running);
    if (const auto* step = std::get_if<protocol::StepProgress>(&progress)) {
        m_steps.push_back(*step);
        if (step->loss)
            m_lastLoss = step->loss;
    } else if (const auto* epoch = std::get_if<protocol::EpochProgress>(&progress)) {
        m_epochs.push_back(*epoch);
    } else if (const auto* hello = std::get_if<protocol::Hello>(&progress)) {
        m_hello = *hello;
    } else if (const auto* done = std::get_if<protocol::Done>(&progress)) {
        m_done = *done;
    } else if (const auto* notice = std::get_if<protocol::Notice>(&progress)) {
        QStringList detail{asQString(notice->where), asQString(notice->hint)};
        detail.removeAll(QString());
        emit m_notices->noticed(asQString(notice->what), detail.join('\n'),
                                notice->severity == protocol::Notice::Severity::Error);
    }
    emit progressed(progress);
}

void TrainingService::finish(const advisor::TrainerExit& exit)
{
    m_exitCheck.stop();
    m_patience.stop();
    m_notifier.reset();
    m_process.reset();
    const bool failed = (exit.status != 0 || exit.signal != 0) && !m_killedForSilence;
    RunOutcome outcome;
    outcome.state = failed ? "failed" : m_asked ? "stopped" : "finished";
    if (failed)
        outcome.message = QString::fromStdString(exit.message());
    if (m_killedForSilence)
        outcome.message = tr("The training run did not stop within %1 s and was killed. Events recorded until then are "
                             "kept.")
                              .arg(m_patience.interval() / 1000);
    if (m_done) {
        outcome.steps = m_done->steps;
        outcome.seconds = m_done->seconds;
        outcome.samplesPerSecond = m_done->samplesPerSecond;
        outcome.finalLoss = m_done->finalLoss;
        outcome.validationMetric = m_done->validationAccuracy;
        outcome.metric = asQString(m_done->metric);
    } else if (!m_steps.empty()) {
        outcome.steps = m_steps.back().step + 1;
        outcome.samplesPerSecond = m_steps.back().samplesPerSecond;
        outcome.finalLoss = m_steps.back().loss.value_or(0);
    }
    const QString detail = QString::fromStdString(exit.lastOutput);
    m_document->finishRun(); // receivers of stateChanged() may open another trace
    // A trainer that was killed leaves its last events in the ring file next to the trace, and both stay.
    if (exit.signal == 0 && m_runs->current())
        m_toSeal = m_runs->current()->trace();
    setState(RunState::Idle);
    m_runs->close(outcome);
    sealWhenRead();
    if (!outcome.message.isEmpty())
        emit m_notices->noticed(outcome.message, detail, failed);
}

} // namespace app
