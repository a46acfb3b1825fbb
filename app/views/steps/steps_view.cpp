#include "app/views/steps/steps_view.h"

#include "app/tables/slice_details.h"
#include "profiler/analysis/steps/slow_step.h"

#include <QMenu>
#include <QToolButton>
#include <algorithm>

namespace app {

using profiler::TraceTime;
using profiler::analysis::Step;

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
