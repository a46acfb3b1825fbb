#pragma once

#include "advisor/tuner/tuner.h"
#include "app/session/background.h"

#include <QObject>
#include <QString>
#include <chrono>
#include <optional>

namespace app {

/// Tunes a configuration off the GUI thread; the result of the last tuning stays. GUI thread.
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
    [[nodiscard]] const std::optional<advisor::TuneResult>& result() const { return m_result; } ///< of the last one
    /// Why the last tuning has no result; empty when it has one, or the user stopped it before anything was tried.
    [[nodiscard]] const QString& trouble() const { return m_trouble; }

    /// Forgets the result of the one before.
    void start(const config::TrainingConfig& configuration, std::chrono::seconds budget);
    void stop(); ///< ended() follows once the trainers are gone

signals:
    void progressed(const advisor::TuneProgress& progress);
    void ended();

private:
    void take(const advisor::TuneProgress& progress);
    void end(const profiler::Result<advisor::TuneResult>& result);

    bool m_running = false, m_stopping = false;
    config::TrainingConfig m_start;
    std::chrono::seconds m_budget{0};
    std::optional<advisor::TuneProgress> m_progress;
    std::optional<advisor::TuneResult> m_result;
    QString m_trouble;
    Background m_thread;
};

} // namespace app
