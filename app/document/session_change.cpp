#include "app/document/session_change.h"

#include "app/look/qstring.h"

#include <QCoreApplication>
#include <utility>

namespace app {

namespace {

// Quick successive edits, such as clicking a spin box five times, are one undo step.
constexpr qint64 kQuickMs = 1500;
constexpr int kByHandId = 1;

QString nameOf(const std::string& key)
{
    const config::Knob* knob = config::findKnob(key);
    return asQString(knob->label);
}

} // namespace

SessionChange SessionChange::ofKnob(std::string key, std::string from, std::string to)
{
    SessionChange change;
    change.text = QCoreApplication::translate("SessionChange", "%1 = %2").arg(nameOf(key), QString::fromStdString(to));
    change.knobs = {{std::move(key), std::move(from), std::move(to)}};
    change.byHand = true;
    return change;
}

ChangeCommand::ChangeCommand(SessionChange change, Apply apply)
    : QUndoCommand(change.text), m_change(std::move(change)), m_apply(std::move(apply))
{
    m_since.start();
}

int ChangeCommand::id() const
{
    return m_change.byHand ? kByHandId : -1;
}

bool ChangeCommand::mergeWith(const QUndoCommand* other)
{
    const SessionChange& next = static_cast<const ChangeCommand*>(other)->m_change;
    config::Difference& mine = m_change.knobs.front();
    if (next.knobs.front().key != mine.key || m_since.elapsed() > kQuickMs)
        return false;
    mine.b = next.knobs.front().b;
    m_since.start();
    m_change.text = next.text;
    setText(next.text);
    setObsolete(mine.a == mine.b);
    return true;
}

} // namespace app
