#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"
#include "app/session/background.h"

#include <QObject>
#include <QString>
#include <map>
#include <optional>

namespace app {

/// Measures one change at a time against the configuration there is; results are kept by rule. GUI thread.
class ExperimentController : public QObject {
    Q_OBJECT
public:
    explicit ExperimentController(QObject* parent = nullptr);
    ~ExperimentController() override;

    /// What is measured for an advice that has a toggle.
    static advisor::ExperimentPlan planFor(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline);

    [[nodiscard]] bool isRunning() const { return !m_rule.isEmpty(); }
    [[nodiscard]] bool isStopping() const { return m_stopping; } ///< it was cancelled, and its trainers still end
    [[nodiscard]] const QString& rule() const { return m_rule; } ///< being measured; empty: none
    [[nodiscard]] const std::optional<advisor::ExperimentProgress>& progress() const { return m_progress; }
    [[nodiscard]] const advisor::ExperimentResult* result(const QString& ruleId) const;
    [[nodiscard]] const std::map<QString, advisor::ExperimentResult>& results() const { return m_results; } ///< by rule

    void start(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline);
    void cancel(); ///< ends with failed() once the trainers are gone
    void forget(const QString& ruleId);
    /// Cancels what is being measured, too: its result is not kept.
    void forgetAll();

signals:
    void progressed(const QString& ruleId, const advisor::ExperimentProgress& progress);
    void finished(const QString& ruleId, const advisor::ExperimentResult& result);
    /// @param message  empty when the user cancelled
    void failed(const QString& ruleId, const QString& message);

private:
    void take(const advisor::ExperimentProgress& progress);
    void end(const profiler::Result<advisor::ExperimentResult>& result);

    QString m_rule;
    bool m_stopping = false, m_forgotten = false; ///< what is being measured
    std::optional<advisor::ExperimentProgress> m_progress;
    std::map<QString, advisor::ExperimentResult> m_results;
    Background m_thread;
};

} // namespace app
