#include "app/views/run/run.h"

#include "app/configuration/configuration_model.h"
#include "app/configuration/presets.h"
#include "app/document/recording_cost_text.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/services/job_guard.h"
#include "app/services/level_costs.h"
#include "app/views/run/knob_row.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace app {

namespace {

QToolButton* makeHeading(const QString& title, QWidget* parent)
{
    auto* button = new QToolButton(parent);
    button->setText(title);
    button->setIcon(icon("collapse", QPalette::PlaceholderText));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setAutoRaise(true);
    button->setCheckable(false);
    QFont font = button->font();
    font.setWeight(QFont::DemiBold);
    button->setFont(font);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    return button;
}

} // namespace

ConfigurationForm::ConfigurationForm(ConfigurationModel* configuration, LevelCostMeasurer* levelCosts,
                                     const JobGuard* jobs, QWidget* parent)
    : QWidget(parent), m_configuration(configuration), m_levelCosts(levelCosts), m_jobs(jobs)
{
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeHeader());
    layout->addWidget(makeChangedLine());
    layout->addWidget(makeGroups(), 1);
    setFocusProxy(m_search);
    connect(m_configuration, &ConfigurationModel::changed, this, &ConfigurationForm::showValues);
    connect(m_configuration, &ConfigurationModel::descriptionChanged, this, &ConfigurationForm::showDescription);
    for (KnobRow* row : findChildren<KnobRow*>())
        if (row->knob().key == config::key::captureLevel.name)
            connect(row, &KnobRow::actionChosen, this, [this] {
                if (m_levelCosts->isMeasuring())
                    m_levelCosts->cancel();
                else
                    m_levelCosts->measure();
            });
    connect(m_levelCosts, &LevelCostMeasurer::changed, this, &ConfigurationForm::showCost);
    connect(m_configuration, &ConfigurationModel::changed, this, &ConfigurationForm::showCost);
    connect(m_jobs, &JobGuard::changed, this, &ConfigurationForm::showCost);
    connect(m_configuration, &ConfigurationModel::commitPendingEdits, this, &ConfigurationForm::takeEdits);
    connect(m_levelCosts, &LevelCostMeasurer::progressed, this, [this](const QString& level, double share) {
        m_costLevel = level;
        m_costShare = share;
        showCost();
    });
    showCost();
    connect(m_search, &QLineEdit::textChanged, this, &ConfigurationForm::filter);
    connect(m_advanced, &QCheckBox::toggled, this, &ConfigurationForm::filter);
    filter();
}

QWidget* ConfigurationForm::makeHeader()
{
    auto* header = new QWidget(this);
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(8, 4, 8, 6);
    m_search = new QLineEdit(header);
    m_search->setObjectName("searchKnobs");
    m_search->setPlaceholderText(tr("Find setting"));
    m_search->setAccessibleName(m_search->placeholderText());
    m_search->setClearButtonEnabled(true);
    m_search->addAction(icon("search", QPalette::PlaceholderText), QLineEdit::LeadingPosition);
    m_advanced = new QCheckBox(tr("All"), header);
    m_advanced->setObjectName("allKnobs");
    m_advanced->setToolTip(tr("Also show settings that are rarely needed or have no effect now"));
    auto* presets = new QToolButton(header);
    presets->setText(tr("Presets"));
    presets->setPopupMode(QToolButton::InstantPopup);
    addPresets(presets);
    layout->addWidget(m_search, 1);
    layout->addWidget(m_advanced);
    layout->addWidget(presets);
    return header;
}

void ConfigurationForm::addPresets(QToolButton* button)
{
    auto* menu = new QMenu(button);
    for (const Preset& preset : allPresets())
        menu->addAction(preset.title, this,
                        [this, preset] { m_configuration->set(preset.configuration, preset.title); });
    menu->addAction(tr("All defaults"), this, &ConfigurationForm::resetAll);
    button->setMenu(menu);
}

void ConfigurationForm::resetAll()
{
    m_configuration->set(config::TrainingConfig(), tr("all defaults"));
}

QWidget* ConfigurationForm::makeChangedLine()
{
    m_changedLine = new QWidget(this);
    auto* layout = new QHBoxLayout(m_changedLine);
    layout->setContentsMargins(8, 0, 8, 4);
    m_onlyChanged = new QToolButton(m_changedLine);
    m_onlyChanged->setObjectName("onlyChanged");
    m_onlyChanged->setCheckable(true);
    m_onlyChanged->setAutoRaise(true);
    m_onlyChanged->setFocusPolicy(Qt::StrongFocus);
    m_onlyChanged->setToolTip(tr("Show only settings that differ from the defaults"));
    auto* reset = new QToolButton(m_changedLine);
    reset->setObjectName("resetAll");
    reset->setText(tr("Reset all"));
    reset->setIcon(icon("reset", QPalette::PlaceholderText));
    reset->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    reset->setAutoRaise(true);
    reset->setFocusPolicy(Qt::StrongFocus);
    reset->setToolTip(tr("Reset all settings to their defaults. This can be undone."));
    layout->addWidget(m_onlyChanged);
    layout->addStretch(1);
    layout->addWidget(reset);
    connect(m_onlyChanged, &QToolButton::toggled, this, &ConfigurationForm::filter);
    connect(reset, &QToolButton::clicked, this, &ConfigurationForm::resetAll);
    return m_changedLine;
}

QWidget* ConfigurationForm::makeGroups()
{
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* body = new QWidget(scroll);
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(4, 0, 4, 8);
    layout->setSpacing(1);
    for (const config::Knob& knob : config::knobs()) {
        const bool isNew = m_groups.empty() || m_groups.back().rows.front()->knob().group != knob.group;
        if (isNew)
            addGroup(asQString(knob.group), layout);
        auto* row = new KnobRow(knob, m_configuration, m_groups.back().body);
        m_groups.back().body->layout()->addWidget(row);
        m_groups.back().rows.push_back(row);
    }
    m_nothing = new QLabel(tr("No setting has this text in its name or description."), body);
    m_nothing->setEnabled(false);
    static_cast<QLabel*>(m_nothing)->setWordWrap(true);
    m_nothing->setContentsMargins(10, 8, 10, 8);
    layout->addWidget(m_nothing);
    layout->addStretch(1);
    scroll->setWidget(body);
    scroll->setMinimumWidth(body->minimumSizeHint().width() + scroll->verticalScrollBar()->sizeHint().width());
    return scroll;
}

void ConfigurationForm::addGroup(const QString& title, QVBoxLayout* layout)
{
    Group group;
    auto* heading = makeHeading(title, this);
    group.heading = heading;
    group.body = new QWidget(this);
    auto* rows = new QVBoxLayout(group.body);
    rows->setContentsMargins(0, 0, 0, 6);
    rows->setSpacing(1);
    layout->addWidget(heading);
    layout->addWidget(group.body);
    const std::size_t index = m_groups.size();
    connect(heading, &QToolButton::clicked, this, [this, heading, index] {
        Group& clicked = m_groups[index];
        clicked.folded = !clicked.folded;
        heading->setIcon(icon(clicked.folded ? "expand" : "collapse", QPalette::PlaceholderText));
        filter();
    });
    m_groups.push_back(std::move(group));
}

/// Commits pending edits; a rejected value prevents the start.
void ConfigurationForm::takeEdits()
{
    for (Group& group : m_groups)
        for (KnobRow* row : group.rows)
            row->enter();
    QStringList refused;
    for (const Group& group : m_groups)
        for (const KnobRow* row : group.rows)
            if (const QString why = row->refusal(); !why.isEmpty())
                refused << QString("%1: %2").arg(asQString(row->knob().label), why);
    if (!refused.isEmpty())
        m_configuration->veto(refused.join('\n'));
}

void ConfigurationForm::showValues()
{
    for (Group& group : m_groups)
        for (KnobRow* row : group.rows)
            row->showValue();
    filter();
}

void ConfigurationForm::showDescription()
{
    for (Group& group : m_groups)
        for (KnobRow* row : group.rows)
            row->showDescription();
}

void ConfigurationForm::showCost()
{
    for (Group& group : m_groups)
        for (KnobRow* row : group.rows)
            if (row->knob().key == config::key::captureLevel.name) {
                row->setNote(levelCostText(m_configuration->get()));
                showCostAction(*row);
            }
}

void ConfigurationForm::showCostAction(KnobRow& row)
{
    const bool measuring = m_levelCosts->isMeasuring();
    const QString busy = measuring ? QString() : m_jobs->whyBusy();
    if (measuring)
        row.setAction(m_costShare > 0
                          ? tr("Measuring %1: %2 (cancel)").arg(m_costLevel, formatShare(std::min(m_costShare, 0.99)))
                          : tr("Measuring (cancel)"),
                      tr("Stop measuring; completed measurements are kept"), true);
    else
        row.setAction(tr("Measure here"),
                      busy.isEmpty()
                          ? tr("Run a short training of this configuration for each level, alternating steps with "
                               "and without operators, and save the measured overhead")
                          : tr("%1 Running both would skew the results.").arg(busy),
                      busy.isEmpty());
}

void ConfigurationForm::filter()
{
    const QString words = m_search->text();
    const auto changed = config::difference(config::TrainingConfig(), m_configuration->get()).size();
    m_changedLine->setVisible(changed > 0);
    m_onlyChanged->setText(changed == 1 ? tr("1 changed") : tr("%1 changed").arg(changed));
    const bool onlyChanged = changed > 0 && m_onlyChanged->isChecked();
    bool any = false;
    for (Group& group : m_groups) {
        bool anyHere = false;
        for (KnobRow* row : group.rows) {
            // Changed values are never hidden, because they explain the run.
            const bool usual =
                (!row->knob().advanced && row->hasEffect()) || m_advanced->isChecked() || row->isChanged();
            const bool visible = onlyChanged ? row->isChanged() : words.isEmpty() ? usual : row->matches(words);
            row->setVisible(visible);
            anyHere = anyHere || visible;
        }
        group.heading->setVisible(anyHere);
        group.body->setVisible(anyHere && (!group.folded || !words.isEmpty() || onlyChanged));
        any = any || anyHere;
    }
    m_nothing->setVisible(!any);
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new ConfigurationForm(&bench.configuration, &bench.levelCosts, &bench.jobs, parent);
}

} // namespace

View run()
{
    return {QCoreApplication::translate("views", "Configuration"), ViewArea::Left, 0, create};
}

} // namespace app::views
