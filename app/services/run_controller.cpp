#include "app/services/run_controller.h"

#include <chrono>

namespace app {

using namespace std::chrono_literals;
namespace protocol = config::protocol;

namespace {
// A trainer that sends many messages must not block painting.
constexpr int kMostRecordsAtOnce = 200;
} // namespace

RunController::RunController(QObject* parent) : QObject(parent)
{
    m_exitCheck.setInterval(100ms);
    connect(&m_exitCheck, &QTimer::timeout, this, &RunController::drain);
    m_patience.setInterval(10s);
    m_patience.setSingleShot(true);
    connect(&m_patience, &QTimer::timeout, this, &RunController::killForSilence);
}

RunController::~RunController() = default;

profiler::Result<void> RunController::start(const config::TrainingConfig& configuration,
                                            const std::filesystem::path& trace)
{
    auto program = advisor::findTrainer();
    if (!program)
        return tl::unexpected(program.error());
    auto process = advisor::TrainerProcess::start(configuration, {.program = *program, .trace = trace});
    if (!process)
        return tl::unexpected(process.error());
    m_process = std::move(*process);
    m_asked = m_killedForSilence = false;
    m_done.reset();
    m_notifier = std::make_unique<QSocketNotifier>(m_process->progressDescriptor(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &RunController::drain);
    m_exitCheck.start();
    setState(RunState::Starting);
    return {};
}

void RunController::setState(RunState state)
{
    if (m_state == state)
        return;
    m_state = state;
    emit stateChanged(state);
}

bool RunController::send(const protocol::Command& command)
{
    // If the trainer has died, its exit is reported later, not here.
    return m_process && m_process->send(command).has_value();
}

void RunController::pause()
{
    if (m_state == RunState::Running && send(protocol::Pause{}))
        setState(RunState::Paused);
}

void RunController::resume()
{
    if (m_state == RunState::Paused && send(protocol::Resume{}))
        setState(RunState::Running);
}

void RunController::stop()
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

void RunController::killForSilence()
{
    if (!m_process)
        return;
    m_killedForSilence = true;
    m_process->kill();
}

void RunController::drain()
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

void RunController::take(const protocol::Progress& progress)
{
    if (m_state == RunState::Starting && std::holds_alternative<protocol::StepProgress>(progress))
        setState(RunState::Running);
    if (const auto* done = std::get_if<protocol::Done>(&progress))
        m_done = *done;
    emit progressed(progress);
}

void RunController::finish(const advisor::TrainerExit& exit)
{
    m_exitCheck.stop();
    m_patience.stop();
    m_notifier.reset();
    m_process.reset();
    RunEnd end;
    end.done = m_done;
    end.asked = m_asked;
    end.failed = (exit.status != 0 || exit.signal != 0) && !m_killedForSilence;
    if (end.failed)
        end.message = QString::fromStdString(exit.message());
    if (m_killedForSilence)
        end.message = tr("The training run did not stop within %1 s and was killed. Events recorded until then are "
                         "kept.")
                          .arg(m_patience.interval() / 1000);
    end.detail = QString::fromStdString(exit.lastOutput);
    setState(RunState::Idle);
    emit ended(end);
}

} // namespace app
