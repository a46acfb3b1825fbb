#pragma once

#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QWidget>

namespace app {

/// The field of one knob, by its type. It never refuses by itself: what was typed is handed out as text, and the
/// session says what is wrong with it.
class KnobEditor : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    /// Shows a value, as config::toText has it; emits nothing.
    virtual void setText(const QString& text) = 0;
    [[nodiscard]] virtual QString text() const = 0;
    /// Tells by edited() what is typed and not told yet.
    virtual void enter();
    /// Titles and descriptions of choices, once the trainer was asked.
    virtual void setChoices(const std::vector<config::protocol::Choice>& choices);
    /// Marks the field as holding what was refused.
    void setRefused(bool refused);

signals:
    /// The user entered a value.
    void edited(const QString& text);

protected:
    /// The widget that shows a refusal by its border.
    QWidget* m_field = nullptr;
};

/// @return never null; owned by `parent`
KnobEditor* makeKnobEditor(const config::Knob& knob, QWidget* parent);

} // namespace app
