#pragma once

#include "advisor/tuner/program_tuner.h"
#include "advisor/tuner/tuner.h"
#include "app/services/background.h"
#include "app/services/experiment_controller.h"

#include <QObject>
#include <QString>
#include <chrono>
#include <memory>
#include <optional>

namespace app {

/// A tuned program with the result.
struct ProgramTuned {
    ProgramMeasurement what;
    advisor::ProgramTuneResult result;
};

/// Tunes a configuration or a recorded program off the GUI thread and keeps the last result. GUI thread.
class TuneController : public QObject {
    Q_OBJECT
public:
    explicit TuneController(QObject* parent = nullptr);
    ~TuneController() override;

    [[nodiscard]] bool isRunning() const { return m_running; }
    [[nodiscard]] bool isStopping() const { return m_stopping; }
    [[nodiscard]] const config::TrainingConfig& startConfiguration() const
    {
        return m_start;
    }                                                                      ///< the initial state of the last tuning
    [[nodiscard]] std::chrono::seconds budget() const { return m_budget; } ///< of the last tuning
    /// Latest progress of the running tuning.
    [[nodiscard]] const std::optional<advisor::TuneProgress>& progress() const { return m_progress; }
    /// Result of the last tuning, if it tuned a configuration.
    [[nodiscard]] const std::optional<advisor::TuneResult>& result() const { return m_result; }
    /// Result of the last tuning, if it tuned a program; otherwise null.
    [[nodiscard]] const std::shared_ptr<const ProgramTuned>& programResult() const { return m_programResult; }
    /// Outcome of either of them; null: none.
    [[nodiscard]] const advisor::TuneOutcome* outcome() const;
    /// Origin of the running or last tuning.
    [[nodiscard]] Origin origin() const;
    [[nodiscard]] bool isOfProgram() const { return m_program.has_value(); }
    /// Why the last tuning has no result; empty if it has one, or if the user stopped it before anything was tried.
    [[nodiscard]] const QString& trouble() const { return m_trouble; }

    /// Starts a tuning and discards the previous result.
    void start(const config::TrainingConfig& configuration, std::chrono::seconds budget);
    /// The same with a recorded program. The user's files are not changed.
    /// @param what  its kept changes and rules are ignored: tuning starts with the recorded program
    void startProgram(ProgramMeasurement what, std::chrono::seconds budget);
    void stop(); ///< ended() follows once the trainers are gone

signals:
    void progressed(const advisor::TuneProgress& progress);
    void ended();

private:
    void take(const advisor::TuneProgress& progress);
    void begin(std::chrono::seconds budget);
    void end(const profiler::Result<advisor::TuneResult>& result);
    void endProgram(const profiler::Result<std::shared_ptr<const ProgramTuned>>& result);
    void endWith(const profiler::Error* error);

    bool m_running = false, m_stopping = false;
    config::TrainingConfig m_start;
    std::chrono::seconds m_budget{0};
    std::optional<advisor::TuneProgress> m_progress;
    std::optional<advisor::TuneResult> m_result;
    std::optional<ProgramMeasurement> m_program; ///< none if the last tuning was of a configuration
    std::shared_ptr<const ProgramTuned> m_programResult;
    QString m_trouble;
    Background m_thread;
};

} // namespace app
