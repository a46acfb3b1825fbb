#include "app/views/run/knob_editor.h"

#include "app/look/display_text.h"
#include "app/look/icon.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace app {

namespace {

QHBoxLayout* rowOf(QWidget* widget)
{
    auto* layout = new QHBoxLayout(widget);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(3);
    return layout;
}

class FlagEditor : public KnobEditor {
public:
    explicit FlagEditor(QWidget* parent) : KnobEditor(parent), m_box(new QCheckBox(this))
    {
        m_field = m_box;
        rowOf(this)->addWidget(m_box);
        setFocusProxy(m_box);
        connect(m_box, &QCheckBox::clicked, this, [this] { emit edited(text()); });
    }
    void setText(const QString& text) override { m_box->setChecked(text == "true"); }
    [[nodiscard]] QString text() const override { return m_box->isChecked() ? "true" : "false"; }

private:
    QCheckBox* m_box;
};

class NumberEditor : public KnobEditor {
public:
    NumberEditor(const config::Knob& knob, QWidget* parent) : KnobEditor(parent), m_edit(new NumberEdit(knob, this))
    {
        m_field = m_edit;
        rowOf(this)->addWidget(m_edit);
        setFocusProxy(m_edit);
        connect(m_edit, &NumberEdit::entered, this, &KnobEditor::edited);
    }
    void enter() override { m_edit->enter(); }
    void setText(const QString& text) override { m_edit->setValueText(text); }
    [[nodiscard]] QString text() const override { return m_edit->text(); }

private:
    NumberEdit* m_edit;
};

/// Scrolling through the form must not change values under the pointer.
class QuietComboBox : public QComboBox {
public:
    explicit QuietComboBox(QWidget* parent) : QComboBox(parent) { setFocusPolicy(Qt::StrongFocus); }

protected:
    void wheelEvent(QWheelEvent* event) override
    {
        if (hasFocus())
            QComboBox::wheelEvent(event);
        else
            event->ignore();
    }
};

class ChoiceEditor : public KnobEditor {
public:
    ChoiceEditor(const config::Knob& knob, QWidget* parent) : KnobEditor(parent), m_box(new QuietComboBox(this))
    {
        m_field = m_box;
        for (const std::string_view choice : knob.choices)
            m_box->addItem(asQString(choice), asQString(choice));
        m_box->setMinimumContentsLength(8);
        m_box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        rowOf(this)->addWidget(m_box);
        setFocusProxy(m_box);
        connect(m_box, &QComboBox::activated, this, [this] { emit edited(text()); });
    }
    void setText(const QString& text) override { m_box->setCurrentIndex(m_box->findData(text)); }
    [[nodiscard]] QString text() const override { return m_box->currentData().toString(); }
    void setChoices(const std::vector<config::protocol::Choice>& choices) override
    {
        for (const auto& choice : choices)
            if (const int row = m_box->findData(asQString(choice.id)); row >= 0) {
                m_box->setItemText(row, asQString(choice.title));
                m_box->setItemData(row, asQString(choice.doc), Qt::ToolTipRole);
            }
    }

private:
    QComboBox* m_box;
};

class TextEditor : public KnobEditor {
public:
    TextEditor(const config::Knob& knob, QWidget* parent) : KnobEditor(parent), m_edit(new QLineEdit(this))
    {
        m_field = m_edit;
        auto* layout = rowOf(this);
        layout->addWidget(m_edit);
        setFocusProxy(m_edit);
        // Both Enter and focus loss end editing; an unchanged field must not count as an edit.
        connect(m_edit, &QLineEdit::editingFinished, this, &TextEditor::enter);
        if (knob.type == config::KnobType::Path)
            addBrowse(layout, knob);
    }
    void enter() override
    {
        if (m_edit->isModified()) {
            m_edit->setModified(false);
            emit edited(text());
        }
    }
    void setText(const QString& text) override { m_edit->setText(text); }
    [[nodiscard]] QString text() const override { return m_edit->text(); }

private:
    void addBrowse(QHBoxLayout* layout, const config::Knob& knob)
    {
        using config::PathKind;
        const bool isFolder = knob.path == PathKind::FileOrFolder || knob.path == PathKind::NewFolder;
        const bool isNew = knob.path == PathKind::NewFile;
        m_edit->setPlaceholderText(asQString(knob.whenEmpty));
        auto* browse = new QToolButton(this);
        browse->setObjectName("browse");
        browse->setIcon(icon("folder"));
        browse->setToolTip(isFolder ? tr("Choose a folder…") : tr("Choose a file…"));
        browse->setAccessibleName(isFolder ? tr("Choose a folder") : tr("Choose a file"));
        layout->addWidget(browse);
        if (knob.path == PathKind::FileOrFolder) {
            auto* menu = new QMenu(browse);
            menu->addAction(tr("Choose a folder…"), this, [this] { chooseFolder(); });
            menu->addAction(tr("Choose a file…"), this, [this] { chooseFile(false); });
            browse->setMenu(menu);
            browse->setPopupMode(QToolButton::InstantPopup);
        } else if (isFolder) {
            connect(browse, &QToolButton::clicked, this, [this] { chooseFolder(); });
        } else {
            connect(browse, &QToolButton::clicked, this, [this, isNew] { chooseFile(isNew); });
        }
    }
    void chooseFolder() { take(QFileDialog::getExistingDirectory(this, tr("Choose a folder"), text())); }
    void chooseFile(bool isNew)
    {
        take(isNew ? QFileDialog::getSaveFileName(this, tr("Choose a file"), text())
                   : QFileDialog::getOpenFileName(this, tr("Choose a file"), text()));
    }
    void take(const QString& chosen)
    {
        if (!chosen.isEmpty())
            emit edited(chosen);
    }

    QLineEdit* m_edit;
};

} // namespace

void KnobEditor::enter() {}

void KnobEditor::setChoices(const std::vector<config::protocol::Choice>&) {}

void KnobEditor::setRefused(bool refused)
{
    if (m_field->property("refused").toBool() == refused)
        return;
    m_field->setProperty("refused", refused);
    for (auto* edit : m_field->findChildren<QLineEdit*>())
        edit->setProperty("refused", refused);
    m_field->update();
}

KnobEditor* makeKnobEditor(const config::Knob& knob, QWidget* parent)
{
    switch (knob.type) {
    case config::KnobType::Flag:
        return new FlagEditor(parent);
    case config::KnobType::Integer:
    case config::KnobType::Real:
        return new NumberEditor(knob, parent);
    case config::KnobType::Choice:
        return new ChoiceEditor(knob, parent);
    case config::KnobType::Path:
    case config::KnobType::Text:
        break;
    }
    return new TextEditor(knob, parent);
}

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
