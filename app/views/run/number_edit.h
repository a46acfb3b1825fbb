#pragma once

#include "trainer/config/training_config.h"

#include <QAbstractSpinBox>

namespace app {

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
