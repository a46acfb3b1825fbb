#include "app/views/advisor/advisor.h"

#include "advisor/verdict.h"
#include "app/configuration/configuration_model.h"
#include "app/document/finding_text.h"
#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/theme.h"
#include "app/services/experiment_service.h"
#include "app/services/job_guard.h"
#include "app/services/journal.h"
#include "app/services/origin.h"
#include "app/services/training_service.h"
#include "app/views/view.h"
#include "app/window/workbench.h"

#include <QApplication>
#include <QCoreApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

/// A heading with a count; when expanded, a list of entries with a title and a text.
class CollapsibleList : public QWidget {
public:
    CollapsibleList(const QString& name, QWidget* parent);

    struct Entry {
        QString title, text;
    };
    /// @param note  text above the entries; may be empty
    void show(const QString& title, const std::vector<Entry>& entries, const QString& note = {});
    /// Rules with their reasons.
    void show(const QString& title, const std::vector<advisor::RuleAdvice>& rules);

    void fold(bool folded);

private:
    QToolButton* m_heading;
    QLabel* m_body;
};

namespace {

std::vector<advisor::RuleAdvice> inState(const std::vector<advisor::RuleAdvice>& all, advisor::State state)
{
    std::vector<advisor::RuleAdvice> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const advisor::RuleAdvice& advice) { return advice.advice.state == state; });
    return found;
}

QString stepsText(std::int64_t steps)
{
    return formatCounted(steps, AdvisorPanel::tr("step"), AdvisorPanel::tr("steps"));
}

/// A bar proportional to the speedup, with its value.
class FactorBar : public QWidget {
public:
    FactorBar(double factor, double most, QWidget* parent) : QWidget(parent), m_factor(factor), m_most(most)
    {
        setFixedHeight(fontMetrics().height() + 6);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        // All bars are scaled to the largest factor, and all start after the widest value.
        const double figures =
            std::max(fontMetrics().horizontalAdvance("00.00 ×"), fontMetrics().horizontalAdvance(formatRatio(m_most))) +
            8;
        QColor fill = palette().color(QPalette::Highlight);
        fill.setAlphaF(0.55F);
        painter.setPen(Qt::NoPen);
        painter.setBrush(fill);
        painter.drawRoundedRect(
            QRectF(figures, 3, std::max(2.0, (width() - figures) * m_factor / m_most), height() - 6), 3, 3);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(QRectF(0, 0, figures - 8, height()), Qt::AlignRight | Qt::AlignVCenter, formatRatio(m_factor));
    }

private:
    double m_factor, m_most;
};

QLabel* makeLabel(const QString& text, QPalette::ColorRole role, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setForegroundRole(role);
    return label;
}

} // namespace

CollapsibleList::CollapsibleList(const QString& name, QWidget* parent)
    : QWidget(parent), m_heading(new QToolButton(this)), m_body(new QLabel(this))
{
    setObjectName(name);
    m_heading->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_heading->setAutoRaise(true);
    m_heading->setFocusPolicy(Qt::StrongFocus);
    m_body->setWordWrap(true);
    m_body->setTextFormat(Qt::RichText);
    m_body->setContentsMargins(22, 0, 4, 4);
    m_body->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(m_heading);
    layout->addWidget(m_body);
    fold(true);
    connect(m_heading, &QToolButton::clicked, this, [this] { fold(m_body->isVisibleTo(this)); });
}

void CollapsibleList::fold(bool folded)
{
    m_body->setVisible(!folded);
    m_heading->setIcon(icon(folded ? "expand" : "collapse", QPalette::PlaceholderText));
}

void CollapsibleList::show(const QString& title, const std::vector<advisor::RuleAdvice>& rules)
{
    std::vector<Entry> entries;
    entries.reserve(rules.size());
    for (const advisor::RuleAdvice& rule : rules)
        entries.push_back({QString::fromStdString(rule.advice.title), QString::fromStdString(reasonText(rule.advice))});
    show(title, entries);
}

void CollapsibleList::show(const QString& title, const std::vector<Entry>& entries, const QString& note)
{
    setVisible(!entries.empty());
    m_heading->setText(QString("%1 (%2)").arg(title).arg(entries.size()));
    QString text = note.isEmpty() ? QString() : QString("<p style='margin:0 0 6px 0'>%1</p>").arg(note.toHtmlEscaped());
    for (const Entry& entry : entries)
        text += QString("<p style='margin:0 0 6px 0'><b>%1</b><br>%2</p>")
                    .arg(entry.title.toHtmlEscaped(), entry.text.toHtmlEscaped().replace('\n', "<br>"));
    m_body->setText(text);
}

JournalList::JournalList(JournalStore* journal, QWidget* parent) : QWidget(parent), m_journal(journal)
{
    setObjectName("journal");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 6, 4, 6);
    auto* title = makeLabel(tr("Journal"), QPalette::WindowText, this);
    QFont font = title->font();
    font.setWeight(QFont::DemiBold);
    title->setFont(font);
    layout->addWidget(title);
    m_rows = new QWidget(this);
    layout->addWidget(m_rows);
    connect(m_journal, &JournalStore::changed, this, &JournalList::showChanges);
    showChanges();
}

void JournalList::showChanges()
{
    const Journal& journal = m_journal->shown();
    setVisible(!journal.changes.empty() || !journal.predictions.empty());
    // Deferred: the change may come from a button of a card that is handling a click.
    QWidget* old = m_rows;
    m_rows = new QWidget(this);
    m_layout = new QVBoxLayout(m_rows);
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(2);
    delete layout()->replaceWidget(old, m_rows); // the caller owns the item of the old widget
    old->hide();
    old->deleteLater();

    double most = 1;
    for (std::size_t i = 1; i <= journal.changes.size(); ++i)
        most = std::max(most, journal.factorAfter(i));
    if (!journal.changes.empty()) {
        m_layout->addWidget(makeLabel(tr("Before any change"), QPalette::WindowText, m_rows));
        m_layout->addWidget(new FactorBar(1, most, m_rows));
    }
    for (std::size_t i = 0; i < journal.changes.size(); ++i)
        addChange(journal.changes[i], journal.factorAfter(i + 1), most);
    if (const QString predictions = predictionsText(journal); !predictions.isEmpty()) {
        auto* label = makeLabel(predictions, QPalette::PlaceholderText, m_rows);
        label->setObjectName("predictions");
        m_layout->addSpacing(4);
        m_layout->addWidget(label);
    }
}

void JournalList::addChange(const KeptChange& change, double factor, double most)
{
    auto* line = new QHBoxLayout;
    line->addWidget(makeLabel(toggleText(change.toggle), QPalette::WindowText, m_rows), 1);
    auto* undo = new QToolButton(m_rows);
    undo->setObjectName("undo:" + change.ruleId);
    undo->setIcon(icon("undo"));
    undo->setAutoRaise(true);
    undo->setFocusPolicy(Qt::StrongFocus);
    undo->setToolTip(tr("Remove the change from the configuration"));
    undo->setAccessibleName(tr("Undo %1").arg(toggleText(change.toggle)));
    connect(undo, &QToolButton::clicked, m_journal, [journal = m_journal, id = change.ruleId] { journal->undo(id); });
    line->addWidget(undo, 0, Qt::AlignTop);
    m_layout->addLayout(line);
    m_layout->addWidget(makeLabel(predictedAndMeasured(change.result), QPalette::PlaceholderText, m_rows));
    m_layout->addWidget(new FactorBar(factor, most, m_rows));
}

QString basisText(const Advised& advice)
{
    if (!advice.live || advice.steps == 0)
        return {};
    if (advice.lastSteps == 0)
        return AdvisorPanel::tr("Based on the run so far: %1.").arg(stepsText(advice.steps));
    return AdvisorPanel::tr("Based on the last %1, up to step %2. Whole-run findings cover the first %3; they are "
                            "updated when the run ends.")
        .arg(stepsText(advice.lastSteps), formatCount(advice.newest), stepsText(advice.steps));
}

AdvisorPanel::AdvisorPanel(const FindingServices& services, QWidget* parent) : QScrollArea(parent), m_uses(services)
{
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMinimumWidth(300);
    auto* body = new QWidget(this);
    m_empty = new QLabel(body);
    m_empty->setObjectName("advisorEmpty");
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_basis = new QLabel(body);
    m_basis->setObjectName("adviceBasis");
    m_basis->setWordWrap(true);
    m_basis->setForegroundRole(QPalette::PlaceholderText);
    m_basis->setToolTip(tr("A finding that no longer appears in the latest steps stays until the whole run is "
                           "analysed again."));
    m_trouble = new QLabel(body);
    m_trouble->setObjectName("advisorTrouble");
    m_trouble->setWordWrap(true);
    m_trouble->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_trouble->hide();
    m_notFound = new CollapsibleList("notFound", body);
    m_cannotTell = new CollapsibleList("cannotTell", body);
    m_otherResults = new CollapsibleList("measuredElsewhere", body);
    m_kept = new JournalList(m_uses.journal, body);
    m_cardLayout = new QVBoxLayout;
    m_cardLayout->setSpacing(8);
    auto* layout = new QVBoxLayout(body);
    layout->setContentsMargins(8, 6, 8, 8);
    layout->setSpacing(8);
    layout->addWidget(m_trouble);
    layout->addWidget(m_basis);
    layout->addWidget(m_empty);
    layout->addLayout(m_cardLayout);
    layout->addWidget(m_kept);
    layout->addWidget(m_otherResults);
    layout->addWidget(m_cannotTell);
    layout->addWidget(m_notFound);
    layout->addStretch(1);
    setWidget(body);
    connectServices();
    showAdvice();
    showOtherResults();
}

void AdvisorPanel::connectServices()
{
    connect(m_uses.document, &TraceDocument::adviceChanged, this, &AdvisorPanel::showAdvice);
    connect(m_uses.document, &TraceDocument::traceReplaced, this, &AdvisorPanel::leaveTrace);
    connect(m_uses.configuration, &ConfigurationModel::changed, this, &AdvisorPanel::refreshCards);
    connect(m_uses.configuration, &ConfigurationModel::changed, this, &AdvisorPanel::showOtherResults);
    connect(m_uses.journal, &JournalStore::changed, this, &AdvisorPanel::refreshCards);
    connect(m_uses.journal, &JournalStore::changed, this, &AdvisorPanel::showOtherResults);
    connect(m_uses.jobs, &JobGuard::changed, this, &AdvisorPanel::refreshCards);
    connect(m_uses.experiments, &ExperimentService::started, m_trouble, &QLabel::hide);
    connect(m_uses.experiments, &ExperimentService::failed, this, [this](const QString&, const QString& message) {
        colourTrouble();
        m_trouble->setText(tr("The change was not measured. %1").arg(message));
        m_trouble->setVisible(!message.isEmpty()); // empty: the user stopped it
    });
    connect(m_uses.training, &TrainingService::stateChanged, this, [this](RunState state) {
        if (state == RunState::Idle && m_afterRun) {
            m_uses.experiments->start(*m_afterRun);
            m_afterRun.reset();
        }
        showEmptyState();
    });
}

void AdvisorPanel::colourTrouble()
{
    setTextColor(m_trouble, shades(QApplication::palette()).bad);
}

void AdvisorPanel::changeEvent(QEvent* event)
{
    QScrollArea::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_trouble)
        colourTrouble();
}

void AdvisorPanel::showAdvice()
{
    show(m_uses.document->advice().get());
}

void AdvisorPanel::show(const Advised* advice)
{
    const auto all = advice ? advice->rules : std::vector<advisor::RuleAdvice>();
    const auto firing = inState(all, advisor::State::Fires);
    dropOtherCards(firing);
    int rank = 0;
    for (const advisor::RuleAdvice& finding : firing)
        placeCard(finding, ++rank);
    m_notFound->show(tr("Not found"), inState(all, advisor::State::Silent));
    m_cannotTell->show(tr("Cannot tell"), inState(all, advisor::State::CannotTell));
    m_basis->setText(advice ? basisText(*advice) : QString());
    m_basis->setVisible(!m_basis->text().isEmpty());
    showEmptyState();
}

void AdvisorPanel::placeCard(const advisor::RuleAdvice& advice, int rank)
{
    FindingCard*& card = m_cards[advice.id];
    if (!card) {
        card = new FindingCard(m_uses, advice, widget());
        connect(card, &FindingCard::stopRunAndMeasure, this, &AdvisorPanel::stopRunAndMeasure);
    }
    if (m_cardLayout->indexOf(card) != rank - 1) {
        m_cardLayout->removeWidget(card);
        m_cardLayout->insertWidget(rank - 1, card);
    }
    card->setAdvice(advice, rank);
    card->show();
}

void AdvisorPanel::dropOtherCards(const std::vector<advisor::RuleAdvice>& firing)
{
    std::erase_if(m_cards, [&](const auto& entry) {
        const bool stays =
            std::any_of(firing.begin(), firing.end(), [&](const auto& advice) { return advice.id == entry.first; });
        if (!stays) {
            m_cardLayout->removeWidget(entry.second);
            entry.second->hide();
            entry.second->deleteLater();
        }
        return !stays;
    });
}

void AdvisorPanel::showEmptyState()
{
    const auto analysed = m_uses.document->analysed();
    if (!m_cards.empty()) {
        m_empty->hide();
        return;
    }
    if (m_uses.training->state() == RunState::Starting)
        m_empty->setText(tr("The training is starting. Findings appear here while it runs."));
    else if (!m_uses.document->whyNotAnalysed().isEmpty())
        m_empty->setText(tr("The trace was not analysed: %1").arg(m_uses.document->whyNotAnalysed()));
    else if (!analysed && m_uses.document->trace()->sliceCount() > 0)
        m_empty->setText(tr("Analysing the trace. Findings will appear here."));
    else if (!analysed)
        m_empty->setText(
            tr("Start a training or open a trace. The advisor lists what slows it down and what each fix could save. "
               "You can measure each change before you keep it."));
    else if (analysed->facts.steps.empty())
        m_empty->setText(m_uses.training->state() == RunState::Idle ? tr("This trace has no training steps.")
                                                                    : tr("No training step is complete yet."));
    else
        m_empty->setText(tr("No issues found. The rules below list what each of them checked."));
    m_empty->show();
}

/// Messages about measurements, and a measurement queued until the training ends, belong to the previous trace.
void AdvisorPanel::leaveTrace()
{
    m_trouble->hide();
    m_trouble->clear();
    m_afterRun.reset();
    verticalScrollBar()->setValue(0);
    for (CollapsibleList* list : {m_otherResults, m_cannotTell, m_notFound})
        list->fold(true);
}

void AdvisorPanel::showOtherResults()
{
    const Origin here = m_uses.document->title().isEmpty()
                            ? originOf(m_uses.configuration->get())
                            : originOf(*m_uses.document->trace(), m_uses.document->path());
    std::vector<CollapsibleList::Entry> entries;
    for (const JournalStore::OtherResult& one : m_uses.journal->otherResults()) {
        QStringList changes;
        for (const advisor::Toggle& change : one.result.plan.changes)
            changes << toggleText(change);
        const QString verdict = one.kept ? tr("Kept there. %1").arg(verdictText(one.result)) : verdictText(one.result);
        QString origin = tr("Measured with %1.").arg(one.origin.name);
        if (!m_uses.document->isMachine(one.result.machine))
            origin =
                tr("Measured with %1, on another machine: %2.").arg(one.origin.name, machineText(one.result.machine));
        else if (one.origin.name == m_uses.document->program().name)
            origin += ' ' + tr("Its files have changed since then, or it ran in another folder.");
        entries.push_back({changes.join(", "), origin + '\n' + verdict});
    }
    m_otherResults->show(tr("Measured elsewhere"), entries,
                         tr("These results do not belong to the trace on screen "
                            "(%1).")
                             .arg(here.name));
}

void AdvisorPanel::refreshCards()
{
    for (const auto& [id, card] : m_cards)
        card->refresh();
}

void AdvisorPanel::stopRunAndMeasure(const advisor::RuleAdvice& advice)
{
    m_afterRun = advice;
    m_uses.training->stop();
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    return new AdvisorPanel({&bench.notices, &bench.document, &bench.configuration, &bench.jobs, &bench.journal,
                             &bench.experiments, &bench.training},
                            parent);
}

} // namespace

View advisor()
{
    return {QCoreApplication::translate("views", "Advisor"), ViewArea::Right, 0, create};
}

} // namespace app::views
