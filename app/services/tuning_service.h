#pragma once

#include "advisor/tuner/program_tuner.h"
#include "advisor/tuner/tuner.h"
#include "app/services/background.h"
#include "app/services/program_measurement.h"

#include <QObject>
#include <QString>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

namespace app {

class ConfigurationModel;
class JobGuard;
class JournalStore;
class Notices;
class TraceDocument;
class TrustStore;

/// A tuned program with the result.
struct ProgramTuned {
    ProgramMeasurement what;
    advisor::ProgramTuneResult result;
};

/// Tunes the recorded program of a document, or the current configuration, off the GUI thread and keeps the last
/// result. GUI thread.
class TuningService : public QObject {
    Q_OBJECT
public:
    /// All of them must outlive the service.
    TuningService(Notices* notices, ConfigurationModel* configuration, TrustStore* trust, JobGuard* jobs,
                  const TraceDocument* document, JournalStore* journal);
    ~TuningService() override;

    /// Measures the advisor's changes and keeps those that pay: with the recorded program of the document if there is
    /// one (see advisor::tuneProgram), otherwise with the current configuration (see advisor::tune). The user's files
    /// are not changed. Discards the previous result.
    /// @param budget  for all experiments together
    void start(std::chrono::seconds budget);
    void stop(); ///< ended() follows once the trainers are gone; the result contains the changes kept so far

    [[nodiscard]] bool isRunning() const { return m_running; }
    [[nodiscard]] bool isStopping() const { return m_stopping; }
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
    /// The configuration in which the running or last tuning started; null if it is of a program.
    [[nodiscard]] const config::TrainingConfig* tuned() const { return m_program ? nullptr : &m_start; }
    /// Whether the running or last tuning belongs to the training of the document.
    [[nodiscard]] bool isOfDocument() const;
    /// Why the last tuning has no result; empty if it has one, or if the user stopped it before anything was tried.
    [[nodiscard]] const QString& trouble() const { return m_trouble; }

    /// Applies the result of the last tuning to the configuration and the journal as one undoable step.
    void apply();
    /// Saves the tuned configuration; reports errors as a notice.
    void saveConfiguration(const std::filesystem::path& path);
    /// Saves the diff of a tuned program's files, with paths relative to its folder.
    void savePatch(const std::filesystem::path& path);

signals:
    void started();
    void progressed(const advisor::TuneProgress& progress);
    void ended(); ///< outcome() or trouble() has the result

private:
    void startProgram(std::chrono::seconds budget);
    void begin(std::chrono::seconds budget);
    void take(const advisor::TuneProgress& progress);
    void end(const profiler::Result<advisor::TuneResult>& result);
    void endProgram(const profiler::Result<std::shared_ptr<const ProgramTuned>>& result);
    void endWith(const profiler::Error* error);

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    TrustStore* m_trust;
    JobGuard* m_jobs;
    const TraceDocument* m_document;
    JournalStore* m_journal;
    bool m_running = false, m_stopping = false;
    config::TrainingConfig m_start; ///< the initial state of the last tuning
    std::chrono::seconds m_budget{0};
    std::optional<advisor::TuneProgress> m_progress;
    std::optional<advisor::TuneResult> m_result;
    std::optional<ProgramMeasurement> m_program; ///< none if the last tuning was of a configuration
    std::shared_ptr<const ProgramTuned> m_programResult;
    QString m_trouble;
    Background m_thread{this};
};

} // namespace app
