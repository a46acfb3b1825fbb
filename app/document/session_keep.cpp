#include "app/document/session.h"
#include "app/document/session_file.h"
#include "app/document/session_state.h"
#include "app/look/qstring.h"

#include <QDir>
#include <algorithm>
#include <system_error>
#include <utility>

// Undoable changes of the session and saving them.
namespace app {

namespace {

bool holds(const std::vector<KeptChange>& changes, const QString& ruleId)
{
    return std::any_of(changes.begin(), changes.end(),
                       [&](const KeptChange& change) { return change.ruleId == ruleId; });
}

} // namespace

void Session::push(SessionChange change)
{
    m->undo.push(
        new ChangeCommand(std::move(change), [this](const SessionChange& done, bool forth) { apply(done, forth); }));
}

void Session::apply(const SessionChange& change, bool forth)
{
    if (m->restoring)
        return;
    bool changed = false;
    for (const config::Difference& knob : change.knobs)
        changed = m->configuration.set(knob.key, forth ? knob.b : knob.a).has_value() || changed;
    auto& journal = m->kept.changes;
    if (change.leaves != forth)
        journal.insert(journal.begin() + static_cast<std::ptrdiff_t>(std::min(change.place, journal.size())),
                       change.kept.begin(), change.kept.end());
    else
        std::erase_if(journal, [&](const KeptChange& kept) { return holds(change.kept, kept.ruleId); });
    const bool other = refreshJournal();
    if (changed)
        emit configurationChanged();
    if (other || !change.kept.empty())
        emit journalChanged();
    if (m->lock)
        m->keepSoon.start();
}

void Session::restore()
{
    const std::filesystem::path path = sessionFile();
    QDir().mkpath(asQString(path.parent_path().string()));
    auto lock = profiler::os::LockFile::acquire(path.string() + ".lock");
    if (!lock) {
        emit noticed(tr("Another Stepscope window is open. This window's settings and kept changes will not be saved."),
                     asQString(path.string()), false);
        return;
    }
    m->lock = std::make_unique<profiler::os::LockFile>(std::move(*lock));
    auto kept = loadSession(path);
    if (!kept) {
        std::error_code failed;
        std::filesystem::rename(path, path.string() + ".unreadable", failed);
        emit noticed(asQString(kept.error().what.text), asQString(kept.error().message()), true);
        return;
    }
    if (!*kept)
        return;
    m->restoring = true;
    m->undo.clear();
    for (SessionChange& change : (*kept)->undo)
        push(std::move(change));
    m->undo.setIndex(m->undo.count() - (*kept)->undone);
    m->restoring = false;
    m->configuration = (*kept)->configuration;
    m->kept = std::move((*kept)->journal);
    refreshJournal();
    emit configurationChanged();
    emit journalChanged();
}

void Session::keepSession()
{
    m->keepSoon.stop();
    if (!m->lock)
        return;
    KeptSession kept{m->configuration, m->kept, {}, m->undo.count() - m->undo.index()};
    for (int i = 0; i < m->undo.count(); ++i)
        kept.undo.push_back(static_cast<const ChangeCommand*>(m->undo.command(i))->change());
    if (const auto saved = saveSession(kept, sessionFile()); !saved)
        emit noticed(tr("Changes could not be saved."), asQString(saved.error().message()), true);
}

} // namespace app
