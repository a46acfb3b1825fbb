#include "app/session/configuration_command.h"

#include <QCoreApplication>
#include <utility>

namespace app {

namespace {

// Clicking a spin box up five times, or dragging, is one thought.
constexpr qint64 kQuickMs = 1500;
constexpr int kKnobCommandId = 1;

QString nameOf(const std::string& key)
{
    const config::Knob* knob = config::findKnob(key);
    return QString::fromUtf8(knob->label.data(), static_cast<int>(knob->label.size()));
}

} // namespace

KnobCommand::KnobCommand(std::string key, std::string from, std::string to, Apply apply)
    : m_key(std::move(key)), m_from(std::move(from)), m_to(std::move(to)), m_apply(std::move(apply))
{
    m_since.start();
    setText(QCoreApplication::translate("KnobCommand", "%1 = %2").arg(nameOf(m_key), QString::fromStdString(m_to)));
}

int KnobCommand::id() const
{
    return kKnobCommandId;
}

bool KnobCommand::mergeWith(const QUndoCommand* other)
{
    const auto* next = static_cast<const KnobCommand*>(other);
    if (next->m_key != m_key || m_since.elapsed() > kQuickMs)
        return false;
    m_to = next->m_to;
    m_since.start();
    setText(next->text());
    setObsolete(m_to == m_from);
    return true;
}

ConfigurationCommand::ConfigurationCommand(config::TrainingConfig from, config::TrainingConfig to, Apply apply,
                                           const QString& text)
    : QUndoCommand(text), m_from(std::move(from)), m_to(std::move(to)), m_apply(std::move(apply))
{
}

ActionCommand::ActionCommand(const QString& text, std::function<void()> forth, std::function<void()> back)
    : QUndoCommand(text), m_forth(std::move(forth)), m_back(std::move(back))
{
}

} // namespace app
