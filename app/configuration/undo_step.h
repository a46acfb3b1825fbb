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

/// An undo command that its owner applies and reverts.
class UndoStepCommand : public QUndoCommand {
public:
    using Apply = std::function<void(const UndoStep& step, bool forth)>;

    UndoStepCommand(UndoStep step, Apply apply);

    [[nodiscard]] const UndoStep& step() const { return m_step; }
    void undo() override { m_apply(m_step, false); }
    void redo() override { m_apply(m_step, true); }
    [[nodiscard]] int id() const override;
    bool mergeWith(const QUndoCommand* other) override;

private:
    UndoStep m_step;
    Apply m_apply;
    QElapsedTimer m_since;
};

} // namespace app
