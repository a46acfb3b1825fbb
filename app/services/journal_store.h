#pragma once

#include "advisor/rule.h"
#include "app/services/journal.h"

#include <QObject>
#include <QStringList>
#include <span>
#include <vector>

namespace app {

class ConfigurationModel;
class Notices;
class TraceDocument;
struct UndoStep;

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
