#include "app/views/job/job_figures.h"

#include "app/look/number_format.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace app {

using profiler::analysis::JobRank;
using profiler::analysis::RankStep;
using profiler::analysis::RankTimePart;

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(JobFigures)
};

constexpr double kLeastSpan = 0.05; ///< of the step time, see JobFigures::scale()

double busyShare(const RankStep& step)
{
    const auto busy = step.part(RankTimePart::Compute) + step.part(RankTimePart::Copy);
    const auto whole = step.range.duration();
    return whole.count() > 0 ? static_cast<double>(busy.count()) / static_cast<double>(whole.count()) : 0;
}

} // namespace

QString figureTitle(JobFigure figure)
{
    switch (figure) {
    case JobFigure::StepTime:
        return Texts::tr("Step time");
    case JobFigure::Waiting:
        return Texts::tr("Waiting");
    case JobFigure::Busy:
        return Texts::tr("Busy");
    case JobFigure::Lateness:
        break;
    }
    return Texts::tr("Lateness");
}

QString figureText(JobFigure figure, double value)
{
    if (!std::isfinite(value))
        return Texts::tr("not recorded");
    return figure == JobFigure::Busy ? formatShare(value) : formatUs(value);
}

JobFigures::JobFigures(std::shared_ptr<const profiler::job::Job> job)
    : m_job(std::move(job)), m_steps(profiler::analysis::jobSteps(m_job->ranks))
{
}

double JobFigures::value(JobFigure figure, std::size_t rank, std::size_t step) const
{
    const std::int32_t own = m_steps.own[rank][step];
    if (own < 0)
        return std::numeric_limits<double>::quiet_NaN();
    const JobRank& figures = m_job->analysis.ranks[rank];
    switch (figure) {
    case JobFigure::StepTime:
        return figures.stepByStepUs[step];
    case JobFigure::Waiting:
        return figures.waitByStepUs[step];
    case JobFigure::Busy:
        return busyShare(m_job->ranks[rank].steps[static_cast<std::size_t>(own)]);
    case JobFigure::Lateness:
        break;
    }
    // A rank without a collective in the step delays no other rank.
    const double late = figures.lateByStepUs[step];
    return std::isfinite(late) ? std::max(late, 0.0) : 0;
}

JobFigures::Scale JobFigures::scale(JobFigure figure) const
{
    if (figure == JobFigure::Busy)
        return {};
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (std::size_t rank = 0; rank < ranks(); ++rank)
        for (std::size_t step = 0; step < steps(); ++step)
            if (const double one = value(figure, rank, step); std::isfinite(one)) {
                low = std::min(low, one);
                high = std::max(high, one);
            }
    if (figure != JobFigure::StepTime || !std::isfinite(low))
        low = 0;
    return {low, std::max(high, low + std::max(kLeastSpan * m_job->analysis.stepUs, 1e-3))};
}

} // namespace app
