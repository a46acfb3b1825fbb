#include "app/findings/finding_card.h"

#include "advisor/change/program_patch.h"
#include "app/configuration/configuration_model.h"
#include "app/document/finding_text.h"
#include "app/document/trace_document.h"
#include "app/findings/finding_details.h"
#include "app/findings/measurement_box.h"
#include "app/findings/patch_box.h"
#include "app/look/help_place.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/services/experiment_service.h"
#include "app/services/job_guard.h"
#include "app/services/journal.h"
#include "app/services/notices.h"
#include "app/services/origin.h"
#include "app/services/program_process.h"
#include "app/services/training_service.h"

#include <QApplication>
#include <QEvent>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace {

constexpr int kBadge = 20;
constexpr int kMargin = 12;
constexpr std::size_t kMostPlaces = 3; ///< source lines shown

QLabel* makeTextLabel(const QString& name, QWidget* parent)
{
    auto* label = new QLabel(parent);
    label->setObjectName(name);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    return label;
}

void setBold(QLabel* label, bool bold)
{
    QFont font = label->font();
    font.setWeight(bold ? QFont::DemiBold : QFont::Normal);
    label->setFont(font);
}

/// Margin around the evidence, so that its surroundings stay visible.
profiler::TimeRange withSurroundings(profiler::TimeRange range)
{
    const auto room = range.duration() * 3 / 4;
    return {range.begin - room, range.end + room};
}

/// The user's source lines as links with their index as target.
QString sourceText(const std::vector<advisor::SourcePlace>& source)
{
    QStringList lines;
    for (std::size_t i = 0; i < std::min(source.size(), kMostPlaces); ++i) {
        const QString file = QFileInfo(QString::fromStdString(source[i].file)).fileName();
        QString line = QString("<a href=\"%1\">%2:%3</a>").arg(i).arg(file.toHtmlEscaped()).arg(source[i].line);
        if (!source[i].what.empty())
            line += ' ' + QString::fromStdString(source[i].what).toHtmlEscaped();
        lines << line;
    }
    if (source.size() > kMostPlaces)
        lines << FindingCard::tr("and %1 more places").arg(source.size() - kMostPlaces);
    return lines.join("<br>");
}

} // namespace

FindingCard::FindingCard(const FindingServices& services, advisor::RuleAdvice advice, QWidget* parent)
    : QFrame(parent), m_uses(services), m_advice(std::move(advice))
{
    setObjectName("card:" + ruleId());
    setProperty(kHelpPlace, "tips/" + ruleId() + ".md");
    build();
    connectMeasurement();
}

void FindingCard::build()
{
    m_title = makeTextLabel("title", this);
    m_title->setMinimumHeight(kBadge);
    m_title->setIndent(0);
    setBold(m_title, true);
    m_reason = makeTextLabel("reason", this);
    m_source = makeTextLabel("source", this);
    m_source->setTextFormat(Qt::RichText);
    m_source->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(m_source, &QLabel::linkActivated, this, &FindingCard::openSource);
    m_snippet = new SourceSnippet(this);
    connect(m_snippet, &SourceSnippet::activated, this, [this] {
        const advisor::SourcePlace& place = m_advice.advice.source.front();
        m_uses.document->selection()->showSource(QString::fromStdString(place.file), place.line);
    });
    m_saving = makeTextLabel("saving", this);
    m_note = makeTextLabel("note", this);
    m_note->setForegroundRole(QPalette::PlaceholderText);
    m_stopAndApply = new QPushButton(tr("Stop the run and measure"), this);
    m_stopAndApply->setObjectName("stopAndApply");
    m_measurement = new MeasurementBox(this);
    m_measurement->hide();
    auto* head = new QHBoxLayout;
    head->setContentsMargins(kBadge + 8, 0, 0, 0); // the badge is painted
    head->addWidget(m_title);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
    layout->setSpacing(6);
    layout->addLayout(head);
    layout->addWidget(m_reason);
    layout->addWidget(m_source);
    layout->addWidget(m_snippet);
    layout->addWidget(m_saving);
    layout->addWidget(m_buttons = makeButtons());
    layout->addWidget(m_note);
    layout->addWidget(m_stopAndApply, 0, Qt::AlignLeft);
    layout->addWidget(m_measurement);
    layout->addWidget(makeWhy(), 0, Qt::AlignLeft);
}

QWidget* FindingCard::makeWhy()
{
    m_why = new QToolButton(this);
    m_why->setObjectName("why");
    m_why->setText(tr("Why / when not"));
    m_why->setIcon(icon("expand", QPalette::PlaceholderText));
    m_why->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_why->setAutoRaise(true);
    m_why->setFocusPolicy(Qt::StrongFocus);
    connect(m_why, &QToolButton::clicked, this, &FindingCard::toggleTip);
    return m_why;
}

QWidget* FindingCard::makeButtons()
{
    auto* bar = new QWidget(this);
    m_show = new QPushButton(icon("show"), tr("Show"), bar);
    m_show->setObjectName("show");
    m_apply = new QPushButton(icon("measure", QPalette::HighlightedText), tr("Measure"), bar);
    m_apply->setObjectName("apply");
    m_apply->setProperty("primary", true);
    m_diff = new QPushButton(tr("Show the diff"), bar);
    m_diff->setObjectName("showDiff");
    m_diff->setToolTip(tr("Show the edit to your program, to apply or copy it"));
    // Three buttons in one row would be wider than the panel.
    auto* layout = new QGridLayout(bar);
    layout->setContentsMargins(0, 2, 0, 0);
    layout->setSpacing(6);
    layout->addWidget(m_show, 0, 0);
    layout->addWidget(m_apply, 0, 1);
    layout->addWidget(m_diff, 1, 0, 1, 2, Qt::AlignLeft);
    layout->setColumnStretch(2, 1);
    connect(m_diff, &QPushButton::clicked, this, &FindingCard::togglePatch);
    connect(m_show, &QPushButton::clicked, this, &FindingCard::showNextEvidence);
    connect(m_apply, &QPushButton::clicked, this, [this] { m_uses.experiments->start(m_advice); });
    connect(m_stopAndApply, &QPushButton::clicked, this, [this] { emit stopRunAndMeasure(m_advice); });
    return bar;
}

void FindingCard::connectMeasurement()
{
    connect(m_measurement, &MeasurementBox::stopClicked, m_uses.experiments, &ExperimentService::cancel);
    connect(m_measurement, &MeasurementBox::keepClicked, this, [this] { m_uses.journal->keep(m_advice); });
    connect(m_measurement, &MeasurementBox::undoClicked, this, [this] {
        const KeptChange* kept = keptChange();
        m_uses.journal->undo(kept ? kept->ruleId : ruleId());
    });
    connect(m_measurement, &MeasurementBox::runAgainClicked, m_uses.training, &TrainingService::start);
    connect(m_uses.experiments, &ExperimentService::progressed, this,
            [this](const QString& id, const advisor::ExperimentProgress&) {
                if (id == ruleId())
                    refreshMeasurement();
            });
}

void FindingCard::setAdvice(const advisor::RuleAdvice& advice, int rank)
{
    const advisor::Advice before = std::exchange(m_advice, advice).advice;
    m_rank = rank;
    const advisor::Advice& a = m_advice.advice;
    if (m_tip && (a.toggle != before.toggle || a.proposed != before.proposed || a.caveats != before.caveats))
        makeTip(); // its code has the toggle's value
    if (m_patch && a.proposed != before.proposed)
        makePatch();
    m_title->setText(QString::fromStdString(a.title));
    m_reason->setText(withUnitsKept(QString::fromStdString(a.reason.text)));
    m_source->setText(sourceText(a.source));
    m_source->setVisible(!a.source.empty());
    showSnippet();
    m_diff->setVisible(isPatchable());
    m_saving->setText(
        withUnitsKept(a.saving ? app::savingText(*a.saving) : QString::fromStdString(a.whyNoPrediction.text)));
    m_saving->setVisible(!m_saving->text().isEmpty());
    m_show->setEnabled(!a.evidence.empty());
    m_show->setToolTip(tr("Go to the evidence on the timeline; click again for the next of %1").arg(a.evidence.size()));
    setAccessibleName(m_title->text());
    refresh();
    update();
}

void FindingCard::refresh()
{
    const bool predicted = m_advice.advice.saving.has_value();
    const Shades tones = shades(QApplication::palette());
    setTextColor(m_saving, predicted ? tones.good : tones.muted);
    setBold(m_saving, predicted);
    refreshMeasurement();
    refreshApply();
    m_measurement->setBusy(m_uses.jobs->whyBusy());
}

void FindingCard::changeEvent(QEvent* event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_saving)
        refresh();
}

void FindingCard::refreshMeasurement()
{
    const ExperimentService& experiments = *m_uses.experiments;
    const KeptChange* kept = keptChange();
    const advisor::ExperimentResult* result = m_uses.journal->result(ruleId());
    const JournalStore::Measured* measured = m_uses.journal->measured(ruleId());
    m_measurement->setProgram(isOfProgram());
    if (experiments.rule() == ruleId()) {
        if (experiments.isStopping())
            m_measurement->showStopping();
        else if (experiments.progress())
            m_measurement->showProgress(*experiments.progress());
        else
            m_measurement->showStarting(expectedText());
        m_measurement->show();
    } else if (result && measured && measured->refused) {
        m_measurement->showRefusal(*result, measured->traceback);
        m_measurement->show();
    } else if (kept || result) {
        m_measurement->showVerdict(result ? *result : kept->result, kept != nullptr);
        m_measurement->show();
    } else {
        m_measurement->hide();
    }
}

/// The change of the last measurement on this card, if it was kept and is still in the configuration.
const KeptChange* FindingCard::keptChange() const
{
    const Journal& journal = m_uses.journal->shown();
    const advisor::ExperimentResult* result = m_uses.journal->result(ruleId());
    return result && !result->plan.changes.empty() ? journal.keptOf(ruleId(), result->plan.changes.front())
                                                   : journal.newestOf(ruleId());
}

void FindingCard::refreshApply()
{
    const advisor::Advice& a = m_advice.advice;
    const bool training = m_uses.training->state() != RunState::Idle;
    const bool isSet = !isOfProgram() && a.toggle && m_uses.configuration->get().text(a.toggle->key) == a.toggle->to;
    QString note;
    if (!a.toggle && !isPatchable())
        note = QString::fromStdString(a.whyNoToggle.text);
    else if (!a.toggle)
        note = tr("This change cannot be measured. Review the diff, or apply it unmeasured.");
    else if (isSet)
        note = tr("%1 is already in the configuration. Run the training again to see its "
                  "effect.")
                   .arg(toggleText(*a.toggle));
    else if (const QString busy = m_uses.jobs->whyBusy(); !busy.isEmpty())
        note = tr("%1. %2 Running both would skew the results.").arg(toggleText(*a.toggle), busy);
    else
        note = tr("%1. %2").arg(toggleText(*a.toggle), expectedText()) +
               (isOfProgram() ? ' ' + tr("Your files are not changed.") : QString()) + otherResultNote();
    const bool measuring = m_measurement->isVisibleTo(this);
    m_apply->setVisible(a.toggle.has_value());
    m_apply->setEnabled(a.toggle && !isSet && !m_uses.jobs->isBusy());
    m_apply->setToolTip(note);
    m_stopAndApply->setVisible(a.toggle && !isSet && training && m_uses.training->state() != RunState::Stopping &&
                               !measuring);
    m_note->setText(withUnitsKept(note));
    m_note->setVisible(!note.isEmpty() && !measuring);
}

/// A measurement uses this machine and the current settings. Its result belongs to the trace on screen only if the
/// trace was recorded with the same ones.
QString FindingCard::otherResultNote() const
{
    if (!m_uses.document->isMachine(thisMachine()))
        return ' ' +
               tr("The measurement runs on this machine, but the trace was recorded on another one. The result is "
                  "listed under Measured elsewhere.");
    if (isOfProgram())
        return {};
    const config::TrainingConfig* onScreen = m_uses.journal->training();
    if (!onScreen || m_uses.journal->shown().isResultOf(*onScreen, m_uses.configuration->get(), {}))
        return {};
    return ' ' + tr("The measurement uses the current settings (%1), which differ from this trace's. The result is "
                    "listed under Measured elsewhere.")
                     .arg(originOf(m_uses.configuration->get()).name);
}

QString FindingCard::expectedText() const
{
    const auto expected = m_uses.experiments->expectedDuration(m_advice);
    return expected ? tr("Measuring takes %1.").arg(aboutText(*expected))
                    : tr("Measuring takes a minute or more. The trace is too short for a better estimate.");
}

void FindingCard::showNextEvidence()
{
    const auto& evidence = m_advice.advice.evidence;
    if (evidence.empty())
        return;
    // A newer analysis may have reordered the evidence since the last click, so the next item is found by comparison.
    const auto isShown = [this](const advisor::Evidence& one) { return one.range == m_shown; };
    const auto shown = std::find_if(evidence.begin(), evidence.end(), isShown);
    const bool restarts = shown == evidence.end() || shown + 1 == evidence.end();
    const advisor::Evidence& place = restarts ? evidence.front() : *(shown + 1);
    m_shown = place.range;
    if (place.slice)
        m_uses.document->selection()->selectSlice(*place.slice);
    else
        m_uses.document->selection()->selectRange(place.range);
    m_uses.document->selection()->show(withSurroundings(place.range), place.track);
    if (m_advice.id == "step.variance" && place.slice) // its evidence are slow steps
        m_uses.document->selection()->explainStep(*place.slice);
}

void FindingCard::makeTip()
{
    const bool unfolded = m_tip && m_tip->isVisibleTo(this);
    delete m_tip;
    QStringList caveats;
    for (const profiler::Message& caveat : m_advice.advice.caveats)
        caveats << QString::fromStdString(caveat.text);
    const auto advised = m_uses.document->advice();
    m_tip = new TipBox(ruleId(), caveats, m_advice.advice.toggle, advised ? advised->program : advisor::ProgramValues(),
                       this);
    if (isPatchable())
        m_tip->hideCode();
    m_tip->setVisible(unfolded);
    layout()->addWidget(m_tip);
}

/// The measured subject is a recorded program, not a configuration.
bool FindingCard::isOfProgram() const
{
    return !m_uses.document->program().id.isEmpty();
}

/// The change can be shown as a diff of a recorded program whose recording has ended.
bool FindingCard::isPatchable() const
{
    return m_advice.advice.proposed && !m_uses.training->isOpen() && !m_uses.document->trace()->captureStats().live &&
           advisor::change::describesProgram(*m_uses.document->trace());
}

void FindingCard::makePatch()
{
    const bool unfolded = m_patch && m_patch->isVisibleTo(this);
    delete std::exchange(m_patch, nullptr);
    if (!isPatchable())
        return;
    const advisor::Toggle& proposed = *m_advice.advice.proposed;
    m_patch = new PatchBox(m_uses.document->trace(), {{proposed.key, proposed.to}}, this);
    connect(m_patch, &PatchBox::filesChanged, m_uses.document, &TraceDocument::programFilesChanged);
    connect(m_uses.document, &TraceDocument::programFilesChanged, m_patch, &PatchBox::reload);
    m_patch->setVisible(unfolded);
    auto* column = static_cast<QVBoxLayout*>(layout());
    column->insertWidget(column->indexOf(m_buttons) + 1, m_patch);
}

void FindingCard::togglePatch()
{
    if (!m_patch)
        makePatch();
    if (!m_patch)
        return;
    const bool isShown = !m_patch->isVisibleTo(this);
    m_patch->setVisible(isShown);
    m_diff->setText(isShown ? tr("Hide the diff") : tr("Show the diff"));
}

/// The line of the finding, as it was recorded.
void FindingCard::showSnippet()
{
    const auto& source = m_advice.advice.source;
    const auto advised = m_uses.document->advice();
    if (source.empty() || !advised)
        return m_snippet->showLines(nullptr, 0, 0);
    m_snippet->showLines(findFile(advised->files, QString::fromStdString(source.front().file)), source.front().line,
                         source.front().endLine);
}

void FindingCard::openSource(const QString& index)
{
    const std::size_t at = index.toUInt();
    if (at >= m_advice.advice.source.size())
        return;
    const advisor::SourcePlace& place = m_advice.advice.source[at];
    if (const QString problem = openInEditor(QString::fromStdString(place.file), place.line); !problem.isEmpty())
        emit m_uses.notices->noticed(problem, {}, true);
}

void FindingCard::toggleTip()
{
    if (!m_tip)
        makeTip();
    m_tip->setVisible(!m_tip->isVisibleTo(this));
    m_why->setIcon(icon(m_tip->isVisibleTo(this) ? "collapse" : "expand", QPalette::PlaceholderText));
}

void FindingCard::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(palette().color(QPalette::Mid));
    painter.setBrush(shades(palette()).panel);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
    const QRectF badge(kMargin, kMargin, kBadge, kBadge);
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(QPalette::Highlight));
    painter.drawEllipse(badge);
    QFont font = painter.font();
    font.setWeight(QFont::Bold);
    painter.setFont(font);
    painter.setPen(palette().color(QPalette::HighlightedText));
    painter.drawText(badge, Qt::AlignCenter, QString::number(m_rank));
}

} // namespace app
