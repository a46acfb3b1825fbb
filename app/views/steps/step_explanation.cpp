#include "app/views/steps/step_explanation.h"

#include "app/document/trace_document.h"
#include "app/look/icon.h"
#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/look/text_label.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>

namespace app {

namespace analysis = profiler::analysis;
using analysis::SlowStep;
using analysis::SlowStepCause;

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

} // namespace app
