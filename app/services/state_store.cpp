#include "app/services/state_store.h"

#include "app/configuration/configuration_model.h"
#include "app/look/qstring.h"
#include "app/services/journal_store.h"
#include "app/services/notices.h"
#include "app/services/state_file.h"

#include <QDir>
#include <system_error>
#include <utility>

namespace app {

namespace {

constexpr int kSaveMs = 300;

} // namespace

StateStore::StateStore(Notices* notices, ConfigurationModel* configuration, JournalStore* journal)
    : m_notices(notices), m_configuration(configuration), m_journal(journal)
{
    m_saveSoon.setSingleShot(true);
    m_saveSoon.setInterval(kSaveMs);
    connect(&m_saveSoon, &QTimer::timeout, this, &StateStore::save);
    connect(configuration, &ConfigurationModel::stepApplied, this, &StateStore::saveSoon);
    connect(journal, &JournalStore::predictionsAdded, this, &StateStore::saveSoon);
}

StateStore::~StateStore()
{
    if (m_saveSoon.isActive())
        save();
}

void StateStore::restore()
{
    const std::filesystem::path path = stateFile();
    QDir().mkpath(asQString(path.parent_path().string()));
    auto lock = profiler::os::LockFile::acquire(path.string() + ".lock");
    if (!lock) {
        emit m_notices->noticed(
            tr("Another Stepscope window is open. This window's settings and kept changes will not be saved."),
            asQString(path.string()), false);
        return;
    }
    m_lock = std::make_unique<profiler::os::LockFile>(std::move(*lock));
    auto kept = loadState(path);
    if (!kept) {
        std::error_code failed;
        std::filesystem::rename(path, path.string() + ".unreadable", failed);
        emit m_notices->noticed(asQString(kept.error().what.text), asQString(kept.error().message()), true);
        return;
    }
    if (!*kept)
        return;
    m_configuration->restore((*kept)->configuration, std::move((*kept)->undo), (*kept)->undone);
    m_journal->restore(std::move((*kept)->journal));
}

void StateStore::saveSoon()
{
    if (m_lock)
        m_saveSoon.start();
}

void StateStore::save()
{
    m_saveSoon.stop();
    if (!m_lock)
        return;
    const QUndoStack& undo = *m_configuration->undoStack();
    const SavedState state{m_configuration->get(), m_journal->all(), m_configuration->undoSteps(),
                           undo.count() - undo.index()};
    if (const auto saved = saveState(state, stateFile()); !saved)
        emit m_notices->noticed(tr("Changes could not be saved."), asQString(saved.error().message()), true);
}

} // namespace app
