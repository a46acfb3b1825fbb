#pragma once

#include "app/configuration/configuration_model.h"
#include "profiler/model/result.h"
#include "profiler/os/file_lock.h"

#include <QObject>
#include <QTimer>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

/// The state of the app that survives a restart, its file, and the store that saves and restores it.
namespace app {

class JournalStore;
class Notices;

/// What is kept across a restart: the configuration, the journal, and the undo history.
struct SavedState {
    config::TrainingConfig configuration;
    Journal journal;
    std::vector<UndoStep> undo; ///< oldest first
    int undone = 0;             ///< number of the last steps that are undone
};

/// Path of the file, in the user's application data.
std::filesystem::path stateFile();
/// Writes it completely or not at all.
profiler::Result<void> saveState(const SavedState& state, const std::filesystem::path& path);
/// @return nullopt if there is none yet; an error for a file that this version cannot read
profiler::Result<std::optional<SavedState>> loadState(const std::filesystem::path& path);

/// Keeps the configuration, its undo history and the journal across a restart. GUI thread.
class StateStore : public QObject {
    Q_OBJECT
public:
    /// All of them must outlive the store.
    StateStore(Notices* notices, ConfigurationModel* configuration, JournalStore* journal);
    /// Saves pending changes.
    ~StateStore() override;

    /// Restores the state of the last session, and saves it from now on. Reports a notice if it cannot be read (the
    /// file is moved aside), or if another window saves its own.
    void restore();

private:
    void save();
    void saveSoon();

    Notices* m_notices;
    ConfigurationModel* m_configuration;
    JournalStore* m_journal;
    QTimer m_saveSoon;                              ///< several simultaneous changes are written once
    std::unique_ptr<profiler::os::LockFile> m_lock; ///< held if the state is saved; null: it is not saved
};

} // namespace app
