#pragma once

#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QWidget>

namespace app {

/// The field of one knob, chosen by its type. It accepts any text; the configuration validates it and reports errors.
class KnobEditor : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;

    /// Shows a value in the format of config::toText; emits nothing.
    virtual void setText(const QString& text) = 0;
    [[nodiscard]] virtual QString text() const = 0;
    /// Emits edited() for pending input.
    virtual void enter();
    /// Titles and descriptions of choices, available when the trainer has been queried.
    virtual void setChoices(const std::vector<config::protocol::Choice>& choices);
    /// Marks the value of the field as rejected.
    void setRefused(bool refused);

signals:
    /// The user entered a value.
    void edited(const QString& text);

protected:
    /// The widget whose border shows a rejected value.
    QWidget* m_field = nullptr;
};

/// @return never null; owned by `parent`
KnobEditor* makeKnobEditor(const config::Knob& knob, QWidget* parent);

} // namespace app
