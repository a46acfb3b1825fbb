#pragma once

#include "advisor/change/program_patch.h"
#include "advisor/experiment/experiment.h"
#include "advisor/experiment/program_arm.h"
#include "advisor/rule.h"
#include "advisor/runner/workspace.h"
#include "app/services/background.h"
#include "app/services/origin.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace app {

/// An experiment with a recorded program.
struct ProgramMeasurement {
    std::shared_ptr<const profiler::Trace> trace;
    std::vector<std::string> command, environment; ///< environment: NAME=VALUE, added to the app's own
    std::filesystem::path folder;
    advisor::runner::Isolation isolation = advisor::runner::Isolation::Overlay;
    std::vector<advisor::change::WantedChange> kept; ///< changes in both arms
    std::vector<advisor::RuleAdvice> rules;          ///< analysis of the trace, for the prediction
    Origin origin;
};

/// The program setup of an experiment or tuning, with a new folder for its output.
profiler::Result<advisor::ProgramSetup> setupOf(const ProgramMeasurement& what);

/// Measures one change at a time against the current configuration or a recorded program, and keeps the results. A
/// result belongs to the training that it was measured with: result() and results() return those of the training on
/// screen, otherResults() returns the others. GUI thread.
class ExperimentController : public QObject {
    Q_OBJECT
public:
    explicit ExperimentController(QObject* parent = nullptr);
    ~ExperimentController() override;

    /// The measurement for an advice that has a toggle.
    static advisor::ExperimentPlan planFor(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline);

    [[nodiscard]] bool isRunning() const { return !m_rule.isEmpty(); }
    [[nodiscard]] bool isStopping() const { return m_stopping; } ///< cancelled; its trainers are still ending
    /// The rule being measured for the training on screen; empty: none.
    [[nodiscard]] QString rule() const { return m_abandoned ? QString() : m_rule; }
    [[nodiscard]] const std::optional<advisor::ExperimentProgress>& progress() const { return m_progress; }
    [[nodiscard]] const advisor::ExperimentResult* result(const QString& ruleId) const;
    [[nodiscard]] const std::map<QString, advisor::ExperimentResult>& results() const { return m_results; } ///< by rule
    /// Results of other trainings, oldest first, with the titles of their findings.
    struct Measured {
        QString rule, title;
        advisor::ExperimentResult result;
        Origin program;        ///< what it was measured with; without an id: the configuration of its plan
        bool refused = false;  ///< only the changed program fails
        QStringList traceback; ///< last lines of its output
        bool onScreen = true;  ///< belongs to the training on screen
    };
    [[nodiscard]] std::vector<Measured> otherResults() const;
    /// The newest result of a rule, for any training; null: none.
    [[nodiscard]] const Measured* newest(const QString& ruleId) const;
    /// Sets the filter for results of the training on screen.
    void select(const std::function<bool(const Measured&)>& isOnScreen);
    /// The newest result of a rule for the training on screen, with its details; null: none.
    [[nodiscard]] const Measured* measured(const QString& ruleId) const;

    void start(const advisor::RuleAdvice& advice, const config::TrainingConfig& baseline);
    /// Measures the change with the recorded program. The user's files are not changed.
    void startProgram(const advisor::RuleAdvice& advice, ProgramMeasurement what);
    void cancel(); ///< ends with failed() once the trainers are gone
    void forget(const QString& ruleId);
    /// Cancels the current measurement and discards its result.
    void abandon();

signals:
    void progressed(const QString& ruleId, const advisor::ExperimentProgress& progress);
    void finished(const QString& ruleId, const advisor::ExperimentResult& result);
    /// @param message  empty if the user cancelled
    void failed(const QString& ruleId, const QString& message);

private:
    /// The result of the work; the rule and its title are added later.
    using Outcome = profiler::Result<Measured>;
    using Run =
        std::function<Outcome(const std::function<void(const advisor::ExperimentProgress&)>&, const std::stop_token&)>;
    void run(const advisor::RuleAdvice& advice, Run measure);
    void take(const advisor::ExperimentProgress& progress);
    void end(const Outcome& result);

    QString m_rule;
    QString m_title;                              ///< of the finding being measured
    bool m_stopping = false, m_abandoned = false; ///< what is being measured
    std::optional<advisor::ExperimentProgress> m_progress;
    std::vector<Measured> m_all; ///< oldest first
    std::map<QString, advisor::ExperimentResult> m_results;
    Background m_thread;
};

} // namespace app
