#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"
#include "app/services/origin.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// What was measured and kept: the journal of kept changes as a value, and the store that holds it, shows the part that
/// belongs to the trace on screen, and adds to it.
namespace app {

class ConfigurationModel;
class Notices;
class TraceDocument;
struct UndoStep;

/// Number of savings that were predicted and then measured, whether or not the change was kept, and how many of these
/// were in the predicted range.
struct Predictions {
    int held = 0, made = 0;
};

/// A predicted and measured saving, with the origin of the measurement.
struct MeasuredPrediction {
    config::TrainingConfig baseline;
    std::vector<advisor::Toggle> changes;
    bool held = false; ///< was in the predicted range
    QString program{}; ///< id of the program's origin; empty: measured with `baseline`
    advisor::Machine machine{};
};
/// None if nothing was predicted or too little was measured.
/// @param program  program of the measurement; without an id: the plan's configuration
std::optional<MeasuredPrediction> measuredPrediction(const advisor::ExperimentResult& result,
                                                     const Origin& program = {});

/// A measured and kept change, of a configuration or a program.
struct KeptChange {
    QString ruleId;
    QString title; ///< of the finding
    advisor::Toggle toggle;
    advisor::ExperimentResult result;
    Origin program{}; ///< what it was measured with; without an id: the configuration of the result's plan

    [[nodiscard]] bool isOfProgram() const { return !program.id.isEmpty(); }
};

/// The kept changes in order. Changes of programs never belong to a configuration, and vice versa.
struct Journal {
    std::vector<KeptChange> changes;
    std::vector<MeasuredPrediction> predictions; ///< of all measurements, kept or not

    [[nodiscard]] Predictions score() const;
    /// Speedup over the first run after the first `count` changes: the product of their measured ratios.
    [[nodiscard]] double factorAfter(std::size_t count) const;
    [[nodiscard]] const KeptChange* find(const QString& ruleId) const;
    /// The newest change of a rule, in any position.
    [[nodiscard]] const KeptChange* newestOf(const QString& rule) const;
    /// The same, if it sets the knob of `toggle`.
    [[nodiscard]] const KeptChange* keptOf(const QString& rule, const advisor::Toggle& toggle) const;
    /// The changes that are active in a configuration: measured with its workload, with settings that were not changed
    /// since. If changes follow one another, each builds on the previous one. Contains all predictions.
    [[nodiscard]] Journal inForce(const config::TrainingConfig& configuration) const;
    /// Whether a measurement with `baseline` belongs to the training `shown`, see belongsTo().
    /// @param changes  the measured changes
    [[nodiscard]] bool isResultOf(const config::TrainingConfig& shown, const config::TrainingConfig& baseline,
                                  const std::vector<advisor::Toggle>& changes) const;
    /// Changes and predictions measured with the training `shown`; null: with no known training.
    [[nodiscard]] Journal measuredWith(const config::TrainingConfig* shown, const Journal& all) const;
    /// Changes and predictions measured with a program.
    [[nodiscard]] Journal ofProgram(const Origin& program) const;
    /// Changes and predictions measured on machines that `isOnScreen` accepts.
    [[nodiscard]] Journal measuredOn(const std::function<bool(const advisor::Machine&)>& isOnScreen) const;
    /// A free id for another change of a rule, since changes of one rule may be kept one after another: "rule", "rule
    /// #2" …
    /// @param beside  other ids in use
    [[nodiscard]] QString freeName(const QString& rule, const std::vector<KeptChange>& beside = {}) const;
};

/// The model of a configuration.
std::string workloadOf(const config::TrainingConfig& configuration);

/// The measured changes: those that were kept, and those measured since the app started. Each belongs to the training
/// and the machine that it was measured with; a document shows those of its own trace. GUI thread.
class JournalStore : public QObject {
    Q_OBJECT
public:
    /// All of them must outlive the store.
    JournalStore(Notices* notices, ConfigurationModel* configuration, TraceDocument* document);

    /// A finished measurement.
    struct Measured {
        QString rule, title; ///< title: of the finding
        advisor::ExperimentResult result;
        Origin program;        ///< what it was measured with; without an id: the configuration of its plan
        bool refused = false;  ///< only the changed program fails
        QStringList traceback; ///< last lines of its output
        bool isShown = true;   ///< belongs to the training of the document
    };
    /// A result of another training or machine than that of the document.
    struct OtherResult {
        QString title; ///< of the finding
        Origin origin; ///< what it was measured with
        advisor::ExperimentResult result;
        bool kept = false; ///< kept in the journal of that training
    };

    /// The training whose results are shown: that of the document, or the current configuration without a trace. Null:
    /// the trace does not say what it trained, so no result belongs to it.
    [[nodiscard]] const config::TrainingConfig* training() const;
    /// The kept changes that are in the configuration and were measured with that training.
    [[nodiscard]] const Journal& shown() const { return m_shown; }
    /// All kept changes and predictions, of all trainings.
    [[nodiscard]] const Journal& all() const { return m_kept; }
    void restore(Journal kept);

    /// The newest result of a rule for the training of the document; null: none.
    [[nodiscard]] const advisor::ExperimentResult* result(const QString& ruleId) const;
    /// The same with its details.
    [[nodiscard]] const Measured* measured(const QString& ruleId) const;
    /// The newest results for the training of the document that are not in its journal.
    [[nodiscard]] std::vector<advisor::ExperimentResult> resultsNotKept() const;
    /// Oldest first, kept ones before the others.
    [[nodiscard]] std::vector<OtherResult> otherResults() const;
    void add(const Measured& measured);
    /// Forgets the result of a rule for the training of the document.
    void forget(const QString& ruleId);
    /// Adds the predictions of finished experiments.
    /// @param program  what they were measured with; without an id: the configurations of their plans
    void addPredictions(std::span<const advisor::ExperimentResult> measured, const Origin& program);

    /// Adds a measured change to the configuration and the journal as one undoable step.
    void keep(const advisor::RuleAdvice& advice);
    /// Undoes a kept change; discards a measured change that was not kept.
    void undo(const QString& ruleId);

signals:
    void changed();
    void predictionsAdded();

private:
    void apply(const UndoStep& step, bool forth);
    bool refresh();
    [[nodiscard]] const Measured* newest(const QString& ruleId) const;

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    TraceDocument* m_document;
    Journal m_kept, m_shown;
    std::vector<Measured> m_measured; ///< oldest first
};

} // namespace app
