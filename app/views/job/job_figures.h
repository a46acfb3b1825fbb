#pragma once

#include "profiler/analysis/job/job_steps.h"
#include "profiler/job/open_job.h"

#include <QString>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace app {

/// A figure of a rank in a step.
enum class JobFigure : std::uint8_t {
    StepTime,
    Waiting,  ///< for other ranks in collectives
    Busy,     ///< share of the step in which the rank computes or copies
    Lateness, ///< arrival at collectives after the median of the other ranks; not below 0
};
inline constexpr std::array<JobFigure, 4> kJobFigures = {JobFigure::Lateness, JobFigure::StepTime, JobFigure::Waiting,
                                                         JobFigure::Busy};

/// "Step time".
QString figureTitle(JobFigure figure);
/// "25.1 ms" or "83.4 %"; "not recorded" for NaN.
QString figureText(JobFigure figure, double value);

/// The figures of the analysed steps of a job. Immutable.
class JobFigures {
public:
    explicit JobFigures(std::shared_ptr<const profiler::job::Job> job);

    [[nodiscard]] const profiler::job::Job& job() const { return *m_job; }
    [[nodiscard]] std::size_t ranks() const { return m_job->ranks.size(); }
    [[nodiscard]] std::size_t steps() const { return m_steps.count(); }
    /// Times in µs, shares in [0, 1]; NaN if the rank did not record the step.
    [[nodiscard]] double value(JobFigure figure, std::size_t rank, std::size_t step) const;

    /// Ends of a colour scale.
    struct Scale {
        double low = 0, high = 1;
    };
    /// Covers all values. The scale of times spans at least a twentieth of the step, so that jitter looks like jitter.
    [[nodiscard]] Scale scale(JobFigure figure) const;

private:
    std::shared_ptr<const profiler::job::Job> m_job;
    profiler::analysis::JobSteps m_steps;
};

} // namespace app
