#pragma once

#include "app/tables/table_field.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <memory>
#include <span>

namespace app {

/// The steps that overlap a window; `steps` must be sorted by start and must not overlap.
std::span<const profiler::analysis::Step> stepsIn(const Steps& steps, profiler::TimeRange window);
/// "step 12".
QString stepTitle(const profiler::analysis::Step& step);
/// Position of a time relative to the last step that started before it: "step 12 + 3.10 ms"; empty before the first.
QString stepPlace(const Steps& steps, profiler::TraceTime time);
/// A range in steps, "0.42 steps"; empty if it starts before the first.
QString stepSpan(const Steps& steps, profiler::TimeRange range);

/// The steps of a growing trace: those of the analysis of an earlier snapshot, plus newer step marks, so that the
/// newest steps are on the ruler while an analysis is running. For the added steps only range, index and slice are
/// known.
class KnownSteps {
public:
    /// Null while unknown. Valid until the next call of this class.
    [[nodiscard]] const std::shared_ptr<const Steps>& steps() const { return m_steps; }
    void clear();
    /// Sets the steps of an analysis of `trace` or of an earlier snapshot. An analysis of a live trace without steps
    /// came before the first step and is ignored.
    void take(const profiler::Trace& trace, std::shared_ptr<const Steps> found);
    /// Adds new steps of `trace`, a few hundred per call, unless it is complete or its steps do not come from marks.
    /// The cost is proportional to the added steps, and once after each take() to all of them.
    void follow(const profiler::Trace& trace);

private:
    std::shared_ptr<const Steps> m_steps;
    std::shared_ptr<Steps> m_own; ///< the same including added steps; otherwise null
};

} // namespace app
