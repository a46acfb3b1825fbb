#pragma once

#include "app/services/journal.h"
#include "trainer/config/training_config.h"

#include <QElapsedTimer>
#include <QString>
#include <QUndoCommand>
#include <functional>
#include <vector>

namespace app {

/// One undo step: knobs with old and new values, and journal entries that are added or removed with them. A value type,
/// so that it can be saved across a restart.
struct SessionChange {
    QString text;                          ///< display text: "Workers = 2"
    std::vector<config::Difference> knobs; ///< a: before, b: after; both are valid
    std::vector<KeptChange> kept;          ///< added to the journal
    bool leaves = false;                   ///< removed from the journal
    std::size_t place = 0;                 ///< journal index of the first entry; the others follow it
    bool byHand = false;                   ///< one knob, set by the user: quick edits of it are merged into one step

    /// One knob, set by the user.
    static SessionChange ofKnob(std::string key, std::string from, std::string to);
};

/// An undo command that its owner applies and reverts.
class ChangeCommand : public QUndoCommand {
public:
    using Apply = std::function<void(const SessionChange& change, bool forth)>;

    ChangeCommand(SessionChange change, Apply apply);

    [[nodiscard]] const SessionChange& change() const { return m_change; }
    void undo() override { m_apply(m_change, false); }
    void redo() override { m_apply(m_change, true); }
    [[nodiscard]] int id() const override;
    bool mergeWith(const QUndoCommand* other) override;

private:
    SessionChange m_change;
    Apply m_apply;
    QElapsedTimer m_since;
};

} // namespace app
