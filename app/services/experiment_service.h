#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"
#include "app/services/background.h"
#include "app/services/journal.h"
#include "app/services/program_measurement.h"

#include <QObject>
#include <QString>
#include <chrono>
#include <functional>
#include <optional>

namespace app {

class JobGuard;
class TrainingService;

/// Measures one change at a time: of the recorded program of a document, or of the current configuration. Results go to
/// the journal. GUI thread.
class ExperimentService : public QObject {
    Q_OBJECT
public:
    /// All of them must outlive the service.
    ExperimentService(Notices* notices, ConfigurationModel* configuration, TrustStore* trust, JobGuard* jobs,
                      const TraceDocument* document, JournalStore* journal, const TrainingService* training);
    ~ExperimentService() override;

    /// Measures the change of an advice that has a toggle. The user's files are not changed.
    void start(const advisor::RuleAdvice& advice);
    void cancel(); ///< ends with failed() once the trainers are gone

    [[nodiscard]] bool isRunning() const { return !m_rule.isEmpty(); }
    [[nodiscard]] bool isStopping() const { return m_stopping; } ///< cancelled; its trainers are still ending
    /// The rule being measured for the training of the document; empty: none.
    [[nodiscard]] QString rule() const { return m_abandoned ? QString() : m_rule; }
    [[nodiscard]] const std::optional<advisor::ExperimentProgress>& progress() const { return m_progress; }
    /// Estimated duration of a measurement; none if the trace has no step time yet.
    [[nodiscard]] std::optional<std::chrono::seconds> expectedDuration(const advisor::RuleAdvice& advice) const;

signals:
    void started(const QString& ruleId);
    void progressed(const QString& ruleId, const advisor::ExperimentProgress& progress);
    void finished(const QString& ruleId, const advisor::ExperimentResult& result);
    /// @param message  empty if the user cancelled
    void failed(const QString& ruleId, const QString& message);

private:
    /// The result of the work; the rule and its title are added later.
    using Outcome = profiler::Result<JournalStore::Measured>;
    using Run =
        std::function<Outcome(const std::function<void(const advisor::ExperimentProgress&)>&, const std::stop_token&)>;
    void startProgram(const advisor::RuleAdvice& advice);
    void run(const advisor::RuleAdvice& advice, Run measure);
    void take(const advisor::ExperimentProgress& progress);
    void end(const Outcome& result);
    void abandon();

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    TrustStore* m_trust;
    JobGuard* m_jobs;
    const TraceDocument* m_document;
    JournalStore* m_journal;
    const TrainingService* m_training;
    QString m_rule;
    QString m_title; ///< of the finding being measured
    bool m_stopping = false;
    bool m_abandoned = false; ///< the result will be discarded, because it belongs to the previous trace
    std::optional<advisor::ExperimentProgress> m_progress;
    Background m_thread{this};
};

} // namespace app
