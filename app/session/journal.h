#pragma once

#include "advisor/experiment/experiment.h"
#include "app/session/origin.h"

#include <QString>
#include <functional>
#include <optional>
#include <vector>

namespace app {

/// How many savings were predicted and then measured, whatever became of the change, and how many of these lay in the
/// predicted range.
struct Predictions {
    int held = 0, made = 0;
};

/// A saving that was predicted and measured, with what it was measured with.
struct MeasuredPrediction {
    config::TrainingConfig baseline;
    std::vector<advisor::Toggle> changes;
    bool held = false; ///< it lay in the predicted range
    QString program{}; ///< id of the program's origin; empty: it was measured with `baseline`
    advisor::Machine machine{};
};
/// None when nothing was predicted, or too little measured.
/// @param program  that it was measured with; without an id: the plan's configuration
std::optional<MeasuredPrediction> measuredPrediction(const advisor::ExperimentResult& result,
                                                     const Origin& program = {});

/// A change that was measured and kept: of a configuration, or of a program.
struct KeptChange {
    QString ruleId;
    QString title; ///< of the finding
    advisor::Toggle toggle;
    advisor::ExperimentResult result;
    Origin program{}; ///< that it was measured with; without an id: the configuration of the result's plan

    [[nodiscard]] bool isOfProgram() const { return !program.id.isEmpty(); }
};

/// The changes that were kept, in order. Those of programs are none of a configuration, and the other way round.
struct Journal {
    std::vector<KeptChange> changes;
    std::vector<MeasuredPrediction> predictions; ///< of all that was measured, kept or not

    [[nodiscard]] Predictions score() const;
    /// How much faster than the naive run, after the first `count` changes: the product of their measured ratios.
    [[nodiscard]] double factorAfter(std::size_t count) const;
    [[nodiscard]] const KeptChange* find(const QString& ruleId) const;
    /// The newest of a rule's, whatever place it has.
    [[nodiscard]] const KeptChange* newestOf(const QString& rule) const;
    /// The same, if it sets what `toggle` sets.
    [[nodiscard]] const KeptChange* keptOf(const QString& rule, const advisor::Toggle& toggle) const;
    /// The changes that are in a configuration: measured with its workload, and their settings were not changed since.
    /// Where one followed another, each builds on the one before. All predictions.
    [[nodiscard]] Journal inForce(const config::TrainingConfig& configuration) const;
    /// Whether something that was measured with `baseline` is a result of the training `shown`, see belongsTo().
    /// @param changes  that were measured
    [[nodiscard]] bool isResultOf(const config::TrainingConfig& shown, const config::TrainingConfig& baseline,
                                  const std::vector<advisor::Toggle>& changes) const;
    /// Changes and predictions that were measured with the training `shown`, null: with none that is known.
    [[nodiscard]] Journal measuredWith(const config::TrainingConfig* shown, const Journal& all) const;
    /// Changes and predictions that were measured with a program.
    [[nodiscard]] Journal ofProgram(const Origin& program) const;
    /// Changes and predictions that were measured on machines that `isOnScreen` accepts.
    [[nodiscard]] Journal measuredOn(const std::function<bool(const advisor::Machine&)>& isOnScreen) const;
    /// A place for one more change of a rule: changes of one may be kept one after another, as "rule", "rule #2" …
    /// @param beside  takes places, too
    [[nodiscard]] QString freeName(const QString& rule, const std::vector<KeptChange>& beside = {}) const;
};

/// The model that a configuration trains.
std::string workloadOf(const config::TrainingConfig& configuration);

} // namespace app
