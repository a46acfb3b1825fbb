#pragma once

#include "app/session/journal.h"
#include "trainer/config/training_config.h"

#include <QElapsedTimer>
#include <QString>
#include <QUndoCommand>
#include <functional>
#include <vector>

namespace app {

/// One step of undo: knobs from one text to another, and what comes into the journal or leaves it with them. A value,
/// so that it can be kept over a restart.
struct SessionChange {
    QString text;                          ///< for people: "Workers = 2"
    std::vector<config::Difference> knobs; ///< a before, b after; both are valid
    std::vector<KeptChange> kept;          ///< come into the journal …
    bool leaves = false;                   ///< … or leave it
    std::size_t place = 0;                 ///< of the first of them in the journal; the others follow it
    bool byHand = false;                   ///< one knob, set by the user: quick edits of it are one step

    /// One knob, set by the user.
    static SessionChange ofKnob(std::string key, std::string from, std::string to);
};

/// A change that is applied forth and back by whoever owns the state.
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
