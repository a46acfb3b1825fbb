#pragma once

#include "advisor/experiment/trainer_process.h"
#include "app/services/background.h"
#include "trainer/config/protocol.h"

#include <QObject>
#include <QSocketNotifier>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace app {

class ConfigurationModel;
class JobGuard;
class Notices;
class RunStore;
class TraceDocument;
class TrustStore;

/// State of the training that the app started.
enum class RunState { Idle, Starting, Running, Paused, Stopping };

/// Trains the current configuration: starts the trainer process, collects its progress, asks it to pause and stop, and
/// kills it if it does not respond. Its run is kept, and its trace is shown in a document. GUI thread.
class TrainingService : public QObject {
    Q_OBJECT
public:
    /// All of them must outlive the service.
    TrainingService(Notices* notices, ConfigurationModel* configuration, TrustStore* trust, JobGuard* jobs,
                    RunStore* runs, TraceDocument* document);
    ~TrainingService() override;

    [[nodiscard]] RunState state() const { return m_state; }
    /// First commits pending edits, and does not start if one is rejected. Asks for permission if the training would
    /// run a user file that is not trusted.
    void start();
    void pause();
    void resume();
    void stop(); ///< asks the trainer to stop after its current step; kills it after ten seconds
    /// True while a training runs or the end of its trace is still being read: finished() follows.
    [[nodiscard]] bool isOpen() const;

    // Progress of the run whose trace is in the document; cleared when another trace replaces it.
    [[nodiscard]] const std::vector<config::protocol::StepProgress>& stepHistory() const { return m_steps; }
    [[nodiscard]] std::optional<double> lastLoss() const { return m_lastLoss; } ///< of the newest step that has one
    [[nodiscard]] const std::vector<config::protocol::EpochProgress>& epochHistory() const { return m_epochs; }
    /// Information from the trainer at the start of the run: sizes, planned steps.
    [[nodiscard]] const std::optional<config::protocol::Hello>& hello() const { return m_hello; }

signals:
    void stateChanged(app::RunState state);
    void progressed(const config::protocol::Progress& progress);
    void finished(); ///< the training has ended and its trace, if any, is completely read

private:
    void startRun();
    profiler::Result<void> startTrainer(const std::filesystem::path& trace);
    void clearHistory();
    void setState(RunState state);
    bool send(const config::protocol::Command& command);
    void drain();
    void take(const config::protocol::Progress& progress);
    void finish(const advisor::TrainerExit& exit);
    void killForSilence();
    void sealWhenRead();

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    TrustStore* m_trust;
    JobGuard* m_jobs;
    RunStore* m_runs;
    TraceDocument* m_document;
    RunState m_state = RunState::Idle;
    std::unique_ptr<advisor::TrainerProcess> m_process;
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer m_exitCheck; ///< a process may exit slightly after its descriptor is closed, or leave it open in a child
    QTimer m_patience;
    bool m_asked = false; ///< the user stopped it
    bool m_killedForSilence = false;
    std::filesystem::path m_toSeal; ///< trace of the run that has ended, until it is completely read; empty: none
    std::optional<config::protocol::Done> m_done; ///< the trainer's final message
    std::optional<config::protocol::Hello> m_hello;
    std::vector<config::protocol::StepProgress> m_steps;
    std::optional<double> m_lastLoss;
    std::vector<config::protocol::EpochProgress> m_epochs;
    Background m_datasetCheck{this}; ///< of the training about to start
};

} // namespace app
