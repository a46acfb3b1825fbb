#pragma once

#include "app/configuration/undo_step.h"
#include "app/services/trainer_description.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace app {

class Notices;

/// The configuration of the next training, the undo history of its changes, and what the trainer can do here. GUI
/// thread.
class ConfigurationModel : public QObject {
    Q_OBJECT
public:
    explicit ConfigurationModel(Notices* notices);

    [[nodiscard]] const config::TrainingConfig& get() const { return m_configuration; }
    /// Validates and sets one knob as an undoable command. Returns the error message on failure (configuration
    /// unchanged).
    std::optional<QString> setKnob(std::string_view key, const QString& text);
    void set(const config::TrainingConfig& configuration, const QString& undoText);
    /// Loads a configuration from a file; reports errors as a notice.
    void load(const std::filesystem::path& path);
    /// The same for a configuration that was read from this file.
    void setLoaded(const std::filesystem::path& path, const config::TrainingConfig& configuration);
    /// Reports that a file does not contain a valid configuration.
    void refuse(const QString& why);

    [[nodiscard]] QUndoStack* undoStack() { return &m_undo; }
    /// Applies a step and makes it undoable.
    void push(UndoStep step);
    [[nodiscard]] std::vector<UndoStep> undoSteps() const; ///< oldest first
    /// Restores a configuration with its undo history.
    /// @param undone  number of the last steps that are undone
    void restore(const config::TrainingConfig& configuration, std::vector<UndoStep> steps, int undone);

    /// Asks for pending edits of the views. False if one of them was rejected; this is reported as a notice.
    bool commitEdits();
    /// Called from commitPendingEdits() handlers: rejects an edit, with the reason.
    void veto(const QString& why) { m_vetoReason = why; }

    /// Capabilities of the trainer; empty until queried.
    [[nodiscard]] const config::protocol::Description& description() const { return m_description.get(); }
    [[nodiscard]] bool descriptionKnown() const { return m_description.isKnown(); }
    /// Queries the trainer's capabilities in the background. The constructor does not do this, so that the window
    /// paints first.
    void refreshDescription() { m_description.refresh(); }

signals:
    void changed();
    /// An undo step was applied to the configuration; the journal applies its part. changed() follows if a knob has a
    /// new value.
    void stepApplied(const app::UndoStep& step, bool forth);
    void descriptionChanged();
    /// An activity is about to start: pending edits must be committed now; see veto().
    void commitPendingEdits();
    /// A run was not started because of the value of this knob, which its field then shows. An empty `why` means that
    /// the value is valid.
    void knobProblem(const QString& key, const QString& why);

private:
    void apply(const UndoStep& step, bool forth);

    Notices* m_notices;
    config::TrainingConfig m_configuration;
    TrainerDescription m_description;
    QString m_vetoReason;     ///< set during commitPendingEdits()
    bool m_restoring = false; ///< commands are being restored that were already executed
    QUndoStack m_undo;        ///< of UndoStepCommands
};

} // namespace app
