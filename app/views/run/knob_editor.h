#pragma once

#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"

#include <QAbstractSpinBox>
#include <QWidget>

/// The fields of knobs by type.
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

/// A number field with step buttons that accepts any text. The validator explains invalid values, where a QSpinBox
/// would silently clamp them. Integers step by one, real numbers by their leading digit (0.05 → 0.06, 0.1 → 0.2).
class NumberEdit : public QAbstractSpinBox {
    Q_OBJECT
public:
    NumberEdit(const config::Knob& knob, QWidget* parent);

    /// Emits entered() for pending input.
    void enter();
    void setValueText(const QString& text);
    void stepBy(int steps) override;
    QValidator::State validate(QString& input, int& position) const override;

signals:
    void entered(const QString& text);

protected:
    [[nodiscard]] StepEnabled stepEnabled() const override;
    void wheelEvent(QWheelEvent* event) override;

private:
    QString m_shown; ///< last value set or entered
    bool m_isWhole;
    double m_min, m_max;
};

/// The next value in the given direction, by the rule above.
/// @param isWhole  step by one
double steppedValue(double value, bool up, bool isWhole);

} // namespace app
