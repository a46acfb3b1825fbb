#include "app/views/run/number_edit.h"

#include <QLineEdit>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace app {

double steppedValue(double value, bool up, bool isWhole)
{
    if (isWhole)
        return value + (up ? 1 : -1);
    if (value == 0)
        return up ? 0.001 : 0;
    // One step down from 0.1 is 0.09, not 0: the step is taken from the next lower digit.
    double exponent = std::floor(std::log10(std::abs(value)) + 1e-9);
    if (!up && std::abs(value / std::pow(10, exponent) - 1) < 1e-9)
        --exponent;
    const double unit = std::pow(10, exponent);
    return std::round(value / unit + (up ? 1 : -1)) * unit;
}

NumberEdit::NumberEdit(const config::Knob& knob, QWidget* parent)
    : QAbstractSpinBox(parent), m_isWhole(knob.type == config::KnobType::Integer), m_min(knob.min), m_max(knob.max)
{
    setFocusPolicy(Qt::StrongFocus);
    setMinimumWidth(72);
    connect(this, &QAbstractSpinBox::editingFinished, this, &NumberEdit::enter);
}

void NumberEdit::enter()
{
    // Leaving an unchanged field is not an edit.
    if (text() != m_shown)
        emit entered(m_shown = text());
}

void NumberEdit::setValueText(const QString& text)
{
    m_shown = text;
    lineEdit()->setText(text);
    update();
}

void NumberEdit::stepBy(int steps)
{
    double value = text().toDouble();
    for (int i = 0; i < std::abs(steps); ++i)
        value = std::clamp(steppedValue(value, steps > 0, m_isWhole), m_min, m_max);
    const config::Value stepped = m_isWhole ? config::Value(static_cast<std::int64_t>(value)) : config::Value(value);
    setValueText(m_isWhole ? QString::fromStdString(config::toText(stepped)) : QString::number(value, 'g', 6));
    emit entered(text());
}

QValidator::State NumberEdit::validate(QString&, int&) const
{
    return QValidator::Acceptable;
}

QAbstractSpinBox::StepEnabled NumberEdit::stepEnabled() const
{
    bool isNumber = false;
    const double value = text().toDouble(&isNumber);
    StepEnabled enabled = StepNone;
    enabled.setFlag(StepUpEnabled, isNumber && value < m_max);
    enabled.setFlag(StepDownEnabled, isNumber && value > m_min);
    return enabled;
}

void NumberEdit::wheelEvent(QWheelEvent* event)
{
    if (hasFocus())
        QAbstractSpinBox::wheelEvent(event);
    else
        event->ignore();
}

} // namespace app
