#pragma once

#include "trainer/config/training_config.h"

#include <QAbstractSpinBox>

namespace app {

/// A number with step buttons that takes any text: a refusal is for whoever checks the value to explain, where a
/// QSpinBox would silently clamp it. A whole number steps by one, a real one by its leading digit (0.05 → 0.06, 0.1 →
/// 0.2).
class NumberEdit : public QAbstractSpinBox {
    Q_OBJECT
public:
    NumberEdit(const config::Knob& knob, QWidget* parent);

    /// Tells by entered() what is typed and not told yet.
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
    QString m_shown; ///< what was last set or entered
    bool m_isWhole;
    double m_min, m_max;
};

/// The next value in the direction of `up`, by the rule above. @param isWhole  counts in ones
double steppedValue(double value, bool up, bool isWhole);

} // namespace app
