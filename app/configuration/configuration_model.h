#pragma once

#include "app/services/background.h"
#include "app/services/journal.h"
#include "profiler/model/result.h"
#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

/// The configuration of the next training: its values, the undo history of its changes, and what the trainer supports
/// on this machine.
namespace app {

class Notices;

/// One undo step: knobs with old and new values, and journal entries that are added or removed with them. A value type,
/// so that it can be saved across a restart.
struct UndoStep {
    QString text;                          ///< display text: "Workers = 2"
    std::vector<config::Difference> knobs; ///< a: before, b: after; both are valid
    std::vector<KeptChange> kept;          ///< added to the journal
    bool leaves = false;                   ///< removed from the journal
    std::size_t place = 0;                 ///< journal index of the first entry; the others follow it
    bool byHand = false;                   ///< one knob, set by the user: quick edits of it are merged into one step

    /// One knob, set by the user.
    static UndoStep ofKnob(std::string key, std::string from, std::string to);
};

/// The trainer's capabilities: first from a cache, then from the trainer itself.
class TrainerDescription : public QObject {
    Q_OBJECT
public:
    explicit TrainerDescription(QObject* parent = nullptr);
    ~TrainerDescription() override;

    [[nodiscard]] const config::protocol::Description& get() const { return m_description; }
    /// True if an answer is available, possibly from the cache.
    [[nodiscard]] bool isKnown() const { return m_known; }
    /// Reads the cache entry for this trainer binary, then queries the trainer.
    void refresh();

signals:
    void changed();
    /// The trainer is missing or does not respond.
    void failed(const profiler::Error& error);

private:
    void take(const config::protocol::Description& description);

    config::protocol::Description m_description;
    bool m_known = false;
    Background m_thread;
};

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
    QUndoStack m_undo;        ///< one command per UndoStep
};

} // namespace app
