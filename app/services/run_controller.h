#pragma once

#include "advisor/experiment/trainer_process.h"
#include "app/services/run_state.h"

#include <QObject>
#include <QSocketNotifier>
#include <QString>
#include <QTimer>
#include <memory>
#include <optional>

namespace app {

/// The result of a run.
struct RunEnd {
    std::optional<config::protocol::Done> done; ///< the trainer's final message
    bool asked = false;                         ///< the user stopped it
    bool failed = false;
    QString message; ///< for a failure: one sentence with the next step
    QString detail;  ///< last lines of the trainer's output
};

/// Controls the trainer process: starts it, forwards its progress, asks it to pause and stop, and kills it if it does
/// not respond. GUI thread.
class RunController : public QObject {
    Q_OBJECT
public:
    explicit RunController(QObject* parent = nullptr);
    ~RunController() override;

    [[nodiscard]] RunState state() const { return m_state; }
    /// Error if the trainer cannot be started; the state stays Idle.
    profiler::Result<void> start(const config::TrainingConfig& configuration, const std::filesystem::path& trace);
    void pause();
    void resume();
    void stop();

signals:
    void stateChanged(app::RunState state);
    void progressed(const config::protocol::Progress& progress);
    void ended(const app::RunEnd& end);

private:
    void setState(RunState state);
    bool send(const config::protocol::Command& command);
    void drain();
    void take(const config::protocol::Progress& progress);
    void finish(const advisor::TrainerExit& exit);
    void killForSilence();

    RunState m_state = RunState::Idle;
    std::unique_ptr<advisor::TrainerProcess> m_process;
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer m_exitCheck; ///< a process may exit slightly after its descriptor is closed, or leave it open in a child
    QTimer m_patience;
    bool m_asked = false, m_killedForSilence = false;
    std::optional<config::protocol::Done> m_done;
};

} // namespace app
