#pragma once

#include "profiler/os/file_lock.h"

#include <QObject>
#include <QTimer>
#include <memory>

namespace app {

class ConfigurationModel;
class JournalStore;
class Notices;

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
