#include "app/views/run/knob_editor.h"

#include "app/look/icon.h"
#include "app/views/run/number_edit.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QToolButton>
#include <QWheelEvent>
#include <algorithm>

namespace app {

namespace {

QString asQString(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

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
    void setText(const QString& text) override { m_edit->setValueText(text); }
    [[nodiscard]] QString text() const override { return m_edit->text(); }

private:
    NumberEdit* m_edit;
};

/// Scrolling through a form must not change what the pointer happens to pass.
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
        // Enter and leaving the field both end the editing; an unchanged field must not count as an edit.
        connect(m_edit, &QLineEdit::editingFinished, this, [this] {
            if (m_edit->isModified()) {
                m_edit->setModified(false);
                emit edited(text());
            }
        });
        if (knob.type == config::KnobType::Path)
            addBrowse(layout);
    }
    void setText(const QString& text) override { m_edit->setText(text); }
    [[nodiscard]] QString text() const override { return m_edit->text(); }

private:
    void addBrowse(QHBoxLayout* layout)
    {
        m_edit->setPlaceholderText(tr("automatic"));
        auto* browse = new QToolButton(this);
        browse->setIcon(icon("folder"));
        browse->setToolTip(tr("Choose a folder…"));
        browse->setAccessibleName(tr("Choose a folder"));
        layout->addWidget(browse);
        connect(browse, &QToolButton::clicked, this, [this] {
            const QString folder = QFileDialog::getExistingDirectory(this, tr("Choose a folder"), text());
            if (!folder.isEmpty())
                emit edited(folder);
        });
    }

    QLineEdit* m_edit;
};

} // namespace

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

} // namespace app
