#include "app/views/run/knob_row.h"

#include "app/configuration/configuration_model.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/views/run/knob_editor.h"
#include "trainer/config/dataset_check.h"

#include <QApplication>
#include <QCoreApplication>
#include <QEvent>
#include <QGridLayout>
#include <QStringList>
#include <algorithm>
#include <vector>

namespace app {

namespace {

constexpr int kLabelWidth = 112;

const std::vector<config::protocol::Choice>* choicesFor(std::string_view key,
                                                        const config::protocol::Description& description)
{
    if (key == config::key::workload.name)
        return &description.workloads;
    if (key == config::key::dataset.name)
        return &description.datasets;
    if (key == config::key::optimizer.name)
        return &description.optimizers;
    return nullptr;
}

/// "a", "a or b", "a, b or c"; flags as displayed.
QString listed(const std::vector<std::string_view>& values)
{
    QStringList words;
    for (const std::string_view value : values)
        words << (value == "true" ? QCoreApplication::translate("KnobRow", "on") : asQString(value));
    const QString last = words.takeLast();
    return words.isEmpty() ? last : QCoreApplication::translate("KnobRow", "%1 or %2").arg(words.join(", "), last);
}

/// At least the usual width; more only for a word that is longer, in the bold font of a changed knob.
int labelWidth(const QLabel& label)
{
    QFont bold = label.font();
    bold.setWeight(QFont::DemiBold);
    int width = kLabelWidth;
    for (const QString& word : label.text().split(' '))
        width = std::max(width, QFontMetrics(bold).horizontalAdvance(word) + 1);
    return width;
}

} // namespace

KnobRow::KnobRow(const config::Knob& knob, ConfigurationModel* configuration, QWidget* parent)
    : QWidget(parent), m_knob(knob), m_configuration(configuration), m_label(new QLabel(asQString(knob.label), this)),
      m_editor(makeKnobEditor(knob, this)), m_reset(new QToolButton(this)), m_action(new QToolButton(this)),
      m_unit(new QLabel(this)), m_why(new QLabel(this)), m_error(new QLabel(this)), m_note(new QLabel(this))
{
    setObjectName("knob:" + asQString(knob.key));
    m_label->setWordWrap(true); // all editors start at the same position
    m_label->setFixedWidth(labelWidth(*m_label));
    m_label->setBuddy(m_editor);
    m_editor->setObjectName("editor");
    m_editor->setAccessibleName(asQString(knob.label));
    m_editor->setAccessibleDescription(asQString(knob.doc));
    m_reset->setObjectName("reset");
    m_reset->setIcon(icon("reset", QPalette::PlaceholderText));
    m_reset->setAutoRaise(true);
    auto policy = m_reset->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    m_reset->setSizePolicy(policy);
    m_why->setObjectName("whyGrey");
    m_why->setWordWrap(true);
    m_why->setForegroundRole(QPalette::PlaceholderText);
    m_why->hide();
    m_error->setObjectName("error");
    m_error->setWordWrap(true);
    m_error->setTextFormat(Qt::PlainText);
    m_error->hide();
    m_note->setObjectName("note");
    m_note->setWordWrap(true);
    m_note->setTextFormat(Qt::PlainText);
    m_note->setForegroundRole(QPalette::PlaceholderText);
    m_note->hide();
    m_action->setObjectName("action");
    m_action->hide();
    m_unit->setObjectName("unit");
    m_unit->setForegroundRole(QPalette::PlaceholderText);
    const bool hasUnit = !knob.unit.empty() || !knob.zero.empty();
    m_unit->setVisible(hasUnit);

    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(10, 1, 4, 1);
    grid->setHorizontalSpacing(6);
    grid->setVerticalSpacing(1);
    grid->addWidget(m_label, 0, 0);
    grid->addWidget(m_editor, 0, 1, 1, hasUnit ? 1 : 2); // names of choices and files need the space
    if (hasUnit)
        grid->addWidget(m_unit, 0, 2);
    grid->addWidget(m_reset, 0, 3);
    grid->addWidget(m_why, 1, 0, 1, 4);
    grid->addWidget(m_error, 2, 0, 1, 4);
    grid->addWidget(m_note, 3, 0, 1, 4);
    grid->addWidget(m_action, 4, 0, 1, 4, Qt::AlignLeft);
    connect(m_action, &QToolButton::clicked, this, &KnobRow::actionChosen);
    grid->setColumnStretch(1, 1);
    grid->setColumnMinimumWidth(2, 64);

    connect(m_editor, &KnobEditor::edited, this, &KnobRow::take);
    connect(m_reset, &QToolButton::clicked, this,
            [this] { take(QString::fromStdString(config::toText(m_knob.fallback))); });
    connect(m_configuration, &ConfigurationModel::knobProblem, this, [this](const QString& key, const QString& why) {
        if (key == asQString(m_knob.key) && !m_isRefused)
            showProblem(why);
    });
    m_reset->setToolTip(tr("Reset to %1").arg(QString::fromStdString(config::toText(knob.fallback))));
    m_reset->setAccessibleName(tr("Reset %1").arg(asQString(knob.label)));
    showValue();
    showDescription();
}

void KnobRow::setNote(const QString& text)
{
    m_note->setText(text);
    m_note->setVisible(!text.isEmpty());
}

void KnobRow::setAction(const QString& text, const QString& toolTip, bool enabled)
{
    m_action->setText(text);
    m_action->setToolTip(toolTip);
    m_action->setAccessibleName(text);
    m_action->setEnabled(enabled);
    m_action->setVisible(!text.isEmpty());
}

QString KnobRow::toolTipText() const
{
    QString text =
        "<p>" + asQString(m_knob.doc).toHtmlEscaped() + "</p><p>" +
        tr("Default %1 · %2 · applies to: %3")
            .arg(QString::fromStdString(config::toText(m_knob.fallback)).toHtmlEscaped(),
                 QString::fromStdString(config::allowedText(m_knob)).toHtmlEscaped(), asQString(m_knob.where)) +
        "</p><p><tt>" + asQString(m_knob.key) + "</tt></p>";
    if (const QString why = whyNoEffect(m_knob.key, m_configuration->get()); !why.isEmpty())
        text.prepend("<p><b>" + why.toHtmlEscaped() + ".</b></p>");
    if (const QString why = whyNotHere(m_knob, machine()); !why.isEmpty())
        text.prepend("<p><b>" + why.toHtmlEscaped() + ".</b> " +
                     QString::fromStdString(machine()->gpuReason).toHtmlEscaped() + "</p>");
    return text;
}

const config::protocol::Description* KnobRow::machine() const
{
    return m_configuration->descriptionKnown() ? &m_configuration->description() : nullptr;
}

bool KnobRow::hasEffect() const
{
    return whyNoEffect(m_knob.key, m_configuration->get()).isEmpty();
}

bool KnobRow::isChanged() const
{
    return m_configuration->get().value(m_knob.key) != m_knob.fallback;
}

void KnobRow::showValue()
{
    const std::string value = m_configuration->get().text(m_knob.key);
    m_editor->setText(QString::fromStdString(value));
    m_editor->setRefused(false);
    m_isRefused = false;
    m_unit->setText(asQString(value == "0" && !m_knob.zero.empty() ? m_knob.zero : m_knob.unit));
    m_error->hide();
    showDefaultMark();
    showWhyGrey();
}

void KnobRow::showDefaultMark()
{
    const bool changed = isChanged();
    QFont font = m_label->font();
    font.setWeight(changed ? QFont::DemiBold : QFont::Normal);
    m_label->setFont(font);
    m_reset->setVisible(changed);
}

void KnobRow::showDescription()
{
    if (const auto* choices = choicesFor(m_knob.key, m_configuration->description()))
        m_editor->setChoices(*choices);
    showWhyGrey();
}

void KnobRow::showWhyGrey()
{
    const QString notHere = whyNotHere(m_knob, machine());
    const QString why = notHere.isEmpty() ? whyNoEffect(m_knob.key, m_configuration->get()) : notHere;
    // A knob that depends on another choice may be set first.
    m_editor->setEnabled(notHere.isEmpty());
    m_label->setEnabled(why.isEmpty());
    m_why->setText(why);
    m_why->setVisible(!why.isEmpty());
    const QString text = toolTipText();
    setToolTip(text);
    setWhatsThis(text);
}

void KnobRow::take(const QString& text)
{
    if (const auto refused = m_configuration->setKnob(m_knob.key, text)) {
        m_editor->setText(text);
        showProblem(*refused);
        m_isRefused = true;
        return;
    }
    showValue();
    if (m_knob.key == config::key::datasetPath.name)
        checkDataset();
}

// A folder on a network share may take seconds to respond, or never respond.
void KnobRow::checkDataset()
{
    m_datasetCheck.start(
        [this, configuration = m_configuration->get()](const std::stop_token&, const Background::Post& post) {
            post([this, configuration, problem = config::datasetProblem(configuration)] {
                const bool isCurrent = m_configuration->get() == configuration && !m_isRefused;
                if (problem && isCurrent)
                    showProblem(QString::fromStdString(problem->allowed));
            });
        },
        [this](const profiler::Error& error) { showProblem(QString::fromStdString(error.message())); });
}

void KnobRow::showProblem(const QString& why)
{
    m_editor->setRefused(!why.isEmpty());
    setTextColor(m_error, shades(QApplication::palette()).bad);
    m_error->setText(why);
    m_error->setVisible(!why.isEmpty());
}

void KnobRow::enter()
{
    m_editor->enter();
}

QString KnobRow::refusal() const
{
    return m_isRefused ? m_error->text() : QString();
}

void KnobRow::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_error)
        setTextColor(m_error, shades(QApplication::palette()).bad);
}

bool KnobRow::matches(const QString& words) const
{
    const QString all = asQString(m_knob.key) + ' ' + asQString(m_knob.label) + ' ' + asQString(m_knob.group) + ' ' +
                        asQString(m_knob.doc);
    for (const QString& word : words.split(' ', Qt::SkipEmptyParts))
        if (!all.contains(word, Qt::CaseInsensitive))
            return false;
    return true;
}

QString whyNoEffect(std::string_view knob, const config::TrainingConfig& configuration)
{
    const config::Knob* row = config::findKnob(knob);
    const config::Condition* unmet = row ? configuration.unmetCondition(*row) : nullptr;
    if (!unmet)
        return {};
    const QString on = asQString(config::findKnob(unmet->on)->label);
    return unmet->isOneOf
               ? QCoreApplication::translate("KnobRow", "No effect unless %1 is %2").arg(on, listed(unmet->values))
               : QCoreApplication::translate("KnobRow", "No effect while %1 is %2")
                     .arg(on, QString::fromStdString(configuration.text(unmet->on)));
}

QString whyNotHere(const config::Knob& knob, const config::protocol::Description* description)
{
    if (!knob.needsGpu || !description || description->gpuAvailable)
        return {};
    return QCoreApplication::translate("KnobRow", "Needs a GPU");
}

} // namespace app
