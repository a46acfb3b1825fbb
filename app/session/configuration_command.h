#pragma once

#include "trainer/config/training_config.h"

#include <QElapsedTimer>
#include <QUndoCommand>
#include <functional>
#include <string>

namespace app {

/// One knob from one value to another. Quick edits of the same knob become one step of undo.
class KnobCommand : public QUndoCommand {
public:
    /// Called with the text to set; both texts are known to be valid.
    using Apply = std::function<void(const std::string& key, const std::string& text)>;

    KnobCommand(std::string key, std::string from, std::string to, Apply apply);

    void undo() override { m_apply(m_key, m_from); }
    void redo() override { m_apply(m_key, m_to); }
    [[nodiscard]] int id() const override;
    bool mergeWith(const QUndoCommand* other) override;

private:
    std::string m_key, m_from, m_to;
    Apply m_apply;
    QElapsedTimer m_since;
};

/// A whole configuration for another.
class ConfigurationCommand : public QUndoCommand {
public:
    using Apply = std::function<void(const config::TrainingConfig&)>;

    ConfigurationCommand(config::TrainingConfig from, config::TrainingConfig to, Apply apply, const QString& text);

    void undo() override { m_apply(m_from); }
    void redo() override { m_apply(m_to); }

private:
    config::TrainingConfig m_from, m_to;
    Apply m_apply;
};

/// Two actions, each the other's opposite.
class ActionCommand : public QUndoCommand {
public:
    ActionCommand(const QString& text, std::function<void()> forth, std::function<void()> back);

    void undo() override { m_back(); }
    void redo() override { m_forth(); }

private:
    std::function<void()> m_forth, m_back;
};

} // namespace app
