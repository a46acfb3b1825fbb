#pragma once

#include "advisor/tuner/program_tuner.h"
#include "advisor/tuner/tuner.h"
#include "app/session/background.h"
#include "app/session/experiment_controller.h"

#include <QObject>
#include <QString>
#include <chrono>
#include <memory>
#include <optional>

namespace app {

/// A program that was tuned, and what came of it.
struct ProgramTuned {
    ProgramMeasurement what;
    advisor::ProgramTuneResult result;
};

/// Tunes a configuration or a recorded program off the GUI thread; the result of the last tuning stays. GUI thread.
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
    }                                                                      ///< what the last tuning began with
    [[nodiscard]] std::chrono::seconds budget() const { return m_budget; } ///< of the last tuning
    /// What was told last of the tuning that runs.
    [[nodiscard]] const std::optional<advisor::TuneProgress>& progress() const { return m_progress; }
    /// Of the last tuning, where it was of a configuration.
    [[nodiscard]] const std::optional<advisor::TuneResult>& result() const { return m_result; }
    /// Of the last tuning, where it was of a program; else null.
    [[nodiscard]] const std::shared_ptr<const ProgramTuned>& programResult() const { return m_programResult; }
    /// What either of them came to; null: nothing.
    [[nodiscard]] const advisor::TuneOutcome* outcome() const;
    /// What the last tuning is or was of.
    [[nodiscard]] Origin origin() const;
    [[nodiscard]] bool isOfProgram() const { return m_program.has_value(); }
    /// Why the last tuning has no result; empty when it has one, or the user stopped it before anything was tried.
    [[nodiscard]] const QString& trouble() const { return m_trouble; }

    /// Forgets the result of the one before.
    void start(const config::TrainingConfig& configuration, std::chrono::seconds budget);
    /// The same with a recorded program. No file of the user's changes.
    /// @param what  its kept changes and rules are not used: tuning begins with the recorded program
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
    std::optional<ProgramMeasurement> m_program; ///< none: the last tuning was of a configuration
    std::shared_ptr<const ProgramTuned> m_programResult;
    QString m_trouble;
    Background m_thread;
};

} // namespace app
