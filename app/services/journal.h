#pragma once

#include "advisor/experiment/experiment.h"
#include "app/services/origin.h"

#include <QString>
#include <functional>
#include <optional>
#include <vector>

namespace app {

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

} // namespace app
