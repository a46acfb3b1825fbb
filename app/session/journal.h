#pragma once

#include "advisor/experiment/experiment.h"

#include <QString>
#include <vector>

namespace app {

/// How many savings were predicted and then measured, whatever became of the change, and how many of these lay in the
/// predicted range.
struct Predictions {
    int held = 0, made = 0;
    /// Adds an experiment that has ended.
    void count(const advisor::ExperimentResult& result);
};

/// A change that was measured and kept.
struct KeptChange {
    QString ruleId;
    QString title; ///< of the finding
    advisor::Toggle toggle;
    advisor::ExperimentResult result;
};

/// The changes that were kept, in order.
struct Journal {
    std::vector<KeptChange> changes;
    Predictions predictions; ///< of all that was measured, kept or not

    /// How much faster than the naive run, after the first `count` changes: the product of their measured ratios.
    [[nodiscard]] double factorAfter(std::size_t count) const;
    [[nodiscard]] const KeptChange* find(const QString& ruleId) const;
    /// The newest of a rule's, whatever place it has.
    [[nodiscard]] const KeptChange* newestOf(const QString& rule) const;
    /// The same, if it sets what `toggle` sets.
    [[nodiscard]] const KeptChange* keptOf(const QString& rule, const advisor::Toggle& toggle) const;
    /// Those that are in a configuration: measured with its workload, and their settings were not changed since. Where
    /// one followed another, each stands on the one before.
    [[nodiscard]] Journal inForce(const config::TrainingConfig& configuration) const;
    /// A place for one more change of a rule: changes of one may be kept one after another, as "rule", "rule #2" …
    /// @param beside  takes places, too
    [[nodiscard]] QString freeName(const QString& rule, const std::vector<KeptChange>& beside = {}) const;
};

/// The model that a configuration trains.
std::string workloadOf(const config::TrainingConfig& configuration);

} // namespace app
