#include "app/views/tune/tune_result_bar.h"

#include "advisor/tip_text.h"
#include "advisor/tuner/tune_text.h"
#include "advisor/tuner/tuned_code.h"
#include "app/configuration/configuration_model.h"
#include "app/document/trace_document.h"
#include "app/findings/patch_box.h"
#include "app/look/icon.h"
#include "app/look/save_dialog.h"
#include "app/look/theme.h"
#include "app/report/report_file.h"
#include "app/services/job_guard.h"
#include "app/services/report_saver.h"
#include "app/services/tuning_service.h"
#include "app/views/tune/tune_rows.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace app {

namespace {

QPushButton* makeButton(const QString& name, const QString& iconStem, const QString& text, QWidget* parent)
{
    auto* button = new QPushButton(text, parent);
    button->setObjectName(name);
    button->setIcon(icon(iconStem));
    return button;
}

} // namespace

TuneResultBar::TuneResultBar(TuningService* tuning, const ConfigurationModel* configuration,
                             const TraceDocument* document, const JobGuard* jobs, ReportSaver* reports, QWidget* parent)
    : QWidget(parent), m_tuning(tuning), m_configuration(configuration), m_document(document), m_jobs(jobs),
      m_reports(reports), m_summary(new QLabel(this)), m_apply(makeButton("applyTuning", "check", tr("Apply"), this)),
      m_saveConfiguration(makeButton("saveTuned", "save", tr("Configuration…"), this)),
      m_saveReport(makeButton("saveTuneReport", "save", tr("Report…"), this)),
      m_showDiff(new QPushButton(tr("Show the diff"), this)),
      m_savePatch(makeButton("saveTunedPatch", "save", tr("Patch…"), this)), m_copy(makeCopyButton())
{
    m_summary->setObjectName("tuneSummary");
    m_summary->setTextFormat(Qt::PlainText);
    m_summary->setWordWrap(true);
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QFont font = m_summary->font();
    font.setWeight(QFont::DemiBold);
    m_summary->setFont(font);
    m_apply->setProperty("primary", true);
    m_apply->setIcon(icon("check", QPalette::HighlightedText));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_summary);
    auto* buttons = new QHBoxLayout;
    m_showDiff->setObjectName("showTunedDiff");
    m_showDiff->setCheckable(true);
    for (QWidget* widget :
         std::initializer_list<QWidget*>{m_apply, m_showDiff, m_saveConfiguration, m_savePatch, m_saveReport, m_copy})
        buttons->addWidget(widget);
    buttons->addStretch(1);
    layout->addLayout(buttons);
    // Buttons for a program replace those for a configuration, so that the bar stays narrow.
    m_showDiff->hide();
    m_savePatch->hide();
    m_saveConfiguration->setToolTip(tr("Save the tuned configuration"));
    m_saveReport->setToolTip(tr("Save the measurements as an HTML or PDF report"));
    m_showDiff->setToolTip(tr("Show the kept changes as one diff of your files, to apply or revert"));
    m_savePatch->setToolTip(tr("Save the diff in the format that patch and git apply read"));
    connect(m_showDiff, &QPushButton::clicked, this, &TuneResultBar::showDiff);
    connect(m_savePatch, &QPushButton::clicked, this, &TuneResultBar::savePatch);
    connect(m_apply, &QPushButton::clicked, m_tuning, &TuningService::apply);
    connect(m_saveConfiguration, &QPushButton::clicked, this, &TuneResultBar::saveConfiguration);
    connect(m_saveReport, &QPushButton::clicked, this, &TuneResultBar::saveReport);
}

QToolButton* TuneResultBar::makeCopyButton()
{
    auto* button = new QToolButton(this);
    button->setObjectName("copyTunedCode");
    button->setIcon(icon("copy"));
    button->setText(tr("Copy code"));
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    auto* menu = new QMenu(button);
    menu->addAction(tr("For &PyTorch"), this, [this] { copyCode(advisor::tip_section::kPyTorch); })
        ->setObjectName("copyPython");
    menu->addAction(tr("For &LibTorch"), this, [this] { copyCode(advisor::tip_section::kLibTorch); })
        ->setObjectName("copyCpp");
    button->setMenu(menu);
    return button;
}

bool TuneResultBar::isApplied() const
{
    const advisor::TuneResult& result = *m_tuning->result();
    const auto found = config::difference(result.start, result.best);
    return std::all_of(found.begin(), found.end(), [&](const config::Difference& setting) {
        return m_configuration->get().text(setting.key) == setting.b;
    });
}

/// True if changes were kept.
bool TuneResultBar::isBetter() const
{
    const TuningService& tuning = *m_tuning;
    if (tuning.programResult())
        return !tuning.programResult()->result.kept.empty();
    return tuning.result() && !(tuning.result()->start == tuning.result()->best);
}

void TuneResultBar::showResult()
{
    const TuningService& tuning = *m_tuning;
    show();
    const advisor::TuneOutcome& outcome = *tuning.outcome();
    m_summary->setText(QString::fromStdString(advisor::tuneSummary(outcome) + ' ' + outcome.why.text));
    colourSummary();
    showProgramResult();
    if (!tuning.result()) {
        for (QWidget* widget : std::initializer_list<QWidget*>{m_apply, m_saveConfiguration, m_copy})
            widget->hide();
        return;
    }
    const advisor::TuneResult& result = *tuning.result();
    const bool better = isBetter();
    m_apply->setVisible(better);
    m_apply->setEnabled(better && !isApplied() && !m_jobs->isBusy());
    m_apply->setText(better && isApplied() ? tr("Applied") : tr("Apply"));
    m_apply->setToolTip(m_jobs->isBusy() ? m_jobs->whyBusy()
                                         : tr("Apply the tuned settings to the configuration. Undo reverts them."));
    m_saveConfiguration->setVisible(better);
    m_copy->setVisible(better);
    m_copy->setEnabled(!advisor::codeToPaste(result).empty());
}

/// The diff of the kept changes of a program, and its buttons.
void TuneResultBar::showProgramResult()
{
    const std::shared_ptr<const ProgramTuned> tuned = m_tuning->programResult();
    if (tuned != m_shown) {
        delete std::exchange(m_patch, nullptr);
        m_shown = tuned;
        m_showDiff->setChecked(false);
        if (tuned && isBetter()) {
            std::vector<advisor::change::WantedChange> changes;
            for (const advisor::Toggle& change : tuned->result.kept)
                changes.push_back({change.key, change.to});
            m_patch = new PatchBox(tuned->what.trace, std::move(changes), this);
            m_patch->hide();
            connect(m_patch, &PatchBox::filesChanged, m_document, &TraceDocument::programFilesChanged);
            connect(m_document, &TraceDocument::programFilesChanged, m_patch, &PatchBox::reload);
            layout()->addWidget(m_patch);
        }
    }
    m_showDiff->setVisible(m_patch != nullptr);
    m_savePatch->setVisible(m_patch && !tuned->result.patch.diff.empty());
}

void TuneResultBar::showDiff()
{
    if (m_patch)
        m_patch->setVisible(m_showDiff->isChecked());
}

void TuneResultBar::colourSummary()
{
    const advisor::TuneOutcome* outcome = m_tuning->outcome();
    if (outcome && advisor::isShownFaster(*outcome))
        setTextColor(m_summary, shades(QApplication::palette()).good);
    else
        m_summary->setPalette(QPalette());
}

void TuneResultBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_summary)
        colourSummary();
}

void TuneResultBar::saveConfiguration()
{
    if (const QString file = askWhereToSave(this, tr("Save the tuned configuration"), "tuned.json",
                                            {{tr("Configuration (*.json)"), ".json"}});
        !file.isEmpty())
        m_tuning->saveConfiguration(file.toStdString());
}

void TuneResultBar::savePatch()
{
    if (const QString file =
            askWhereToSave(this, tr("Save patch"), "changes.patch", {{tr("Patch (*.patch)"), ".patch"}});
        !file.isEmpty())
        m_tuning->savePatch(file.toStdString());
}

void TuneResultBar::saveReport()
{
    if (const QString file = askForReportFile(this, tr("Save report"), "tuning.html"); !file.isEmpty())
        m_reports->saveTuneReport(file.toStdString());
}

void TuneResultBar::copyCode(std::string_view heading)
{
    QApplication::clipboard()->setText(QString::fromStdString(advisor::codeText(*m_tuning->result(), heading)));
}

} // namespace app
