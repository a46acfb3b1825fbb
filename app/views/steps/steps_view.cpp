#include "app/views/steps/steps_view.h"

#include "app/tables/slice_details.h"

#include <algorithm>

namespace app {

using profiler::TraceTime;
using profiler::analysis::Step;

StepsView::StepsView(Selection* selection, QWidget* parent) : StepBars(parent), m_selection(selection)
{
    connect(this, &StepBars::stepChosen, this, &StepsView::showStep);
    connect(selection, &Selection::changed, this, &StepsView::takeSelection);
}

void StepsView::showSteps(std::vector<Step> steps)
{
    setSteps(std::move(steps));
    takeSelection();
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
}

} // namespace app
