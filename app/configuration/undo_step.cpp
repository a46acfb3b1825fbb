#include "app/configuration/undo_step.h"

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

UndoStep UndoStep::ofKnob(std::string key, std::string from, std::string to)
{
    UndoStep step;
    step.text = QCoreApplication::translate("UndoStep", "%1 = %2").arg(nameOf(key), QString::fromStdString(to));
    step.knobs = {{std::move(key), std::move(from), std::move(to)}};
    step.byHand = true;
    return step;
}

UndoStepCommand::UndoStepCommand(UndoStep step, Apply apply)
    : QUndoCommand(step.text), m_step(std::move(step)), m_apply(std::move(apply))
{
    m_since.start();
}

int UndoStepCommand::id() const
{
    return m_step.byHand ? kByHandId : -1;
}

bool UndoStepCommand::mergeWith(const QUndoCommand* other)
{
    const UndoStep& next = static_cast<const UndoStepCommand*>(other)->m_step;
    config::Difference& mine = m_step.knobs.front();
    if (next.knobs.front().key != mine.key || m_since.elapsed() > kQuickMs)
        return false;
    mine.b = next.knobs.front().b;
    m_since.start();
    m_step.text = next.text;
    setText(next.text);
    setObsolete(mine.a == mine.b);
    return true;
}

} // namespace app
