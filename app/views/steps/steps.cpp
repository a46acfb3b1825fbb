#include "app/views/steps/steps.h"

#include "app/document/trace_document.h"
#include "app/look/display_text.h"
#include "app/look/icon.h"
#include "app/look/labels.h"
#include "app/tables/slice_details.h"
#include "app/views/view.h"
#include "app/window/workbench.h"
#include "profiler/analysis/steps/slow_step.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace app {

namespace analysis = profiler::analysis;
using analysis::SlowStep;
using analysis::SlowStepCause;
using analysis::Step;
using profiler::TraceTime;

StepExplanation::StepExplanation(const TraceDocument* document, QWidget* parent)
    : QDialog(parent), m_document(document), m_work(this), m_headline(makeTextLabel("stepHeadline", this)),
      m_note(makeTextLabel("stepNote", this)), m_progress(new QProgressBar(this)), m_causes(new QVBoxLayout)
{
    setObjectName("stepExplanation");
    setMinimumWidth(520);
    auto* column = new QVBoxLayout(this);
    QFont font = m_headline->font();
    font.setWeight(QFont::DemiBold);
    m_headline->setFont(font);
    m_note->setForegroundRole(QPalette::PlaceholderText);
    m_progress->setRange(0, 0);
    m_progress->setTextVisible(false);
    m_progress->setFixedHeight(8);
    column->addWidget(m_headline);
    column->addWidget(m_progress);
    column->addLayout(m_causes);
    column->addWidget(m_note);
    column->addStretch(1);
    connect(document, &TraceDocument::traceReplaced, this, [this] {
        m_work.cancel();
        hide();
    });
    connect(this, &QDialog::finished, this, [this] { m_work.cancel(); });
}

void StepExplanation::clearCauses()
{
    while (QLayoutItem* item = m_causes->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

void StepExplanation::explain(int step)
{
    const auto analysed = m_document->analysed();
    if (!analysed || step < 0 || step >= static_cast<int>(analysed->facts.steps.size()))
        return;
    const analysis::Step& chosen = analysed->facts.steps[static_cast<std::size_t>(step)];
    setWindowTitle(tr("Why is step %1 slow?").arg(formatCount(chosen.index)));
    m_headline->setText(tr("Step %1 took %2. Comparing it with the other steps…")
                            .arg(formatCount(chosen.index), formatDuration(chosen.range.duration())));
    clearCauses();
    m_note->hide();
    m_progress->show();
    show();
    raise();
    m_work.start(
        [this, analysed, step](const std::stop_token& stop, const Background::Post& post) {
            const auto& trace = analysed->facts.rank ? *analysed->facts.rank->trace : *analysed->trace;
            const analysis::ActivityScan scan = analysis::scanActivity(trace, 2);
            if (stop.stop_requested())
                return;
            auto slow = std::make_shared<const SlowStep>(
                whyStepIsSlow(trace, scan, analysed->facts.steps, static_cast<std::size_t>(step), stop));
            if (!stop.stop_requested())
                post([this, slow] { take(*slow); });
        },
        [this](const profiler::Error& error) {
            m_progress->hide();
            m_headline->setText(tr("The step could not be explained: %1").arg(asQString(error.message())));
        });
}

void StepExplanation::take(const SlowStep& slow)
{
    m_progress->hide();
    const QString index = formatCount(slow.step.index), took = formatDuration(slow.step.range.duration()),
                  usual = formatDuration(slow.usual);
    m_headline->setText(slow.comparedWith < 2
                            ? tr("Step %1 took %2. There are no other steps to compare it with.").arg(index, took)
                        : slow.excess.count() == 0
                            ? tr("Step %1 took %2: not longer than the median step (%3).").arg(index, took, usual)
                            : tr("Step %1 took %2: %3 longer than the median step (%4).")
                                  .arg(index, took, formatDuration(slow.excess), usual));
    for (const SlowStepCause& cause : slow.causes)
        addCause(cause);
    QStringList notes;
    if (slow.unexplained.count() > 0)
        notes << tr("%1 of it have no recorded cause.").arg(formatDuration(slow.unexplained));
    if (slow.step.warmup)
        notes << tr("It is a warm-up step: libraries load, kernels are chosen and caches fill.");
    m_note->setText(notes.join(' '));
    m_note->setVisible(!notes.isEmpty());
    // The height of texts that wrap is known only after the rows have been laid out.
    QTimer::singleShot(0, this, [this] {
        layout()->activate();
        resize(width(), layout()->totalHeightForWidth(width()));
    });
}

void StepExplanation::addCause(const SlowStepCause& cause)
{
    auto* row = new QWidget(this);
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 2, 0, 2);
    QLabel* text = makeTextLabel("stepCause", row);
    text->setText(asQString(cause.reason.text));
    auto* show = new QPushButton(icon("show"), tr("Show"), row);
    show->setToolTip(tr("Go to it in the timeline"));
    show->setAccessibleName(tr("Show: %1").arg(text->text()));
    line->addWidget(text, 1);
    line->addWidget(show);
    connect(show, &QPushButton::clicked, this, [this, slice = cause.slice, where = cause.where] {
        Selection* selection = m_document->selection();
        if (slice)
            selection->selectSlice(*slice);
        else
            selection->selectRange(where);
        const auto margin = where.duration() / 4;
        selection->show({where.begin - margin, where.end + margin}, slice ? std::optional(slice->track) : std::nullopt);
    });
    m_causes->addWidget(row);
}

StepsView::StepsView(Selection* selection, QWidget* parent)
    : StepBars(parent), m_selection(selection), m_why(new QToolButton(this))
{
    m_why->setObjectName("whyIsThisStepSlow");
    m_why->setText(tr("Why slow?"));
    m_why->setToolTip(tr("Why does this step take longer than the median step?"));
    m_why->setAccessibleName(tr("Why is this step slow?"));
    m_why->setAutoRaise(true);
    m_why->hide();
    connect(m_why, &QToolButton::clicked, this, [this] {
        const auto slow = profiler::analysis::slowSteps(steps());
        const auto slowest = std::max_element(slow.begin(), slow.end(), [this](std::size_t a, std::size_t b) {
            return steps()[a].range.duration() < steps()[b].range.duration();
        });
        if (chosen())
            emit explanationWanted(*chosen());
        else if (slowest != slow.end())
            emit explanationWanted(static_cast<int>(*slowest));
    });
    connect(this, &StepBars::menuWanted, this, &StepsView::showMenu);
    connect(selection, &Selection::explanationRequested, this, &StepsView::explain);
    connect(this, &StepBars::stepChosen, this, &StepsView::showStep);
    connect(selection, &Selection::changed, this, &StepsView::takeSelection);
}

void StepsView::showSteps(std::vector<Step> steps)
{
    setSteps(std::move(steps));
    takeSelection();
    showButton();
}

void StepsView::showButton()
{
    const bool useful = chosen() || !profiler::analysis::slowSteps(steps()).empty();
    m_why->setVisible(useful && steps().size() > 1);
    const QSize size = m_why->sizeHint();
    m_why->setGeometry(width() - size.width() - 8, 2, size.width(), size.height());
    setCornerWidth(m_why->isHidden() ? 0 : size.width() + 8);
}

void StepsView::resizeEvent(QResizeEvent* event)
{
    StepBars::resizeEvent(event);
    showButton();
}

void StepsView::showMenu(int step, QPoint global)
{
    QMenu menu(this);
    menu.addAction(tr("Why is this step slow?"), this, [&] { emit explanationWanted(step); });
    menu.addAction(tr("Show in the timeline"), this, [&] { showStep(step); });
    menu.addSeparator();
    menu.addActions(actions());
    menu.exec(global);
}

void StepsView::explain(profiler::SliceId slice)
{
    const auto found =
        std::find_if(steps().begin(), steps().end(), [&](const Step& step) { return step.slice == slice; });
    if (found != steps().end())
        emit explanationWanted(static_cast<int>(found - steps().begin()));
}

void StepsView::showStep(int step)
{
    const Step chosen = steps()[static_cast<std::size_t>(step)];
    m_selection->selectSlice(chosen.slice);
    m_selection->show(chosen.range, chosen.slice.track);
}

void StepsView::takeSelection()
{
    std::optional<TraceTime> time;
    if (m_selection->range())
        time = m_selection->range()->begin;
    else if (m_selection->slice() && m_trace && holds(*m_trace, *m_selection->slice()))
        time = m_trace->slice(*m_selection->slice()).begin;
    std::optional<int> found;
    if (time) {
        const auto after = std::upper_bound(steps().begin(), steps().end(), *time,
                                            [](TraceTime t, const Step& s) { return t < s.range.begin; });
        if (after != steps().begin() && (after - 1)->range.contains(*time))
            found = static_cast<int>(after - steps().begin()) - 1;
    }
    setChosen(found);
    showButton();
}

} // namespace app

namespace app::views {

namespace {

QWidget* create(Workbench& bench, QWidget* parent)
{
    auto* view = new StepsView(bench.document.selection(), parent);
    TraceDocument* document = &bench.document;
    const auto showAnalysed = [=] {
        const auto analysed = document->analysed();
        view->showSteps(analysed ? analysed->facts.steps : std::vector<profiler::analysis::Step>());
        // A trace without steps leaves the space to the timeline; during the analysis, the steps are unknown.
        const bool mayCome = document->isFollowingRun() || document->title().isEmpty();
        if (analysed || mayCome)
            view->setVisible(mayCome || !analysed->facts.steps.empty());
    };
    QObject::connect(document, &TraceDocument::traceChanged, view, [=] { view->setTrace(document->trace()); });
    QObject::connect(document, &TraceDocument::analysedChanged, view, showAnalysed);
    auto* explanation = new StepExplanation(document, view);
    QObject::connect(view, &StepsView::explanationWanted, explanation, &StepExplanation::explain);
    view->setTrace(document->trace());
    showAnalysed();
    return view;
}

} // namespace

View steps()
{
    return {QCoreApplication::translate("views", "Steps"), ViewArea::Center, 0, create};
}

} // namespace app::views
