#pragma once

#include "app/models/table_field.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <QString>
#include <memory>
#include <span>

namespace app {

/// Those that overlap a window, of steps by begin that do not overlap.
std::span<const profiler::analysis::Step> stepsIn(const Steps& steps, profiler::TimeRange window);
/// "step 12".
QString stepTitle(const profiler::analysis::Step& step);
/// Where a time is among the steps: "step 12 + 3.10 ms", after the last one that began before it; empty before the
/// first.
QString stepPlace(const Steps& steps, profiler::TraceTime time);
/// A range in steps, "0.42 steps"; empty where it begins before the first.
QString stepSpan(const Steps& steps, profiler::TimeRange range);

/// The steps of a trace that may grow: what an analysis of an earlier snapshot found, and the marks that were made
/// since, so that the newest steps stand on the ruler although an analysis is under way. Of the added ones only range,
/// index and slice are known.
class KnownSteps {
public:
    /// Null while nothing is known. Good until the next call of this class.
    [[nodiscard]] const std::shared_ptr<const Steps>& steps() const { return m_steps; }
    void clear();
    /// What an analysis of `trace` or of an earlier snapshot found. One that found none of a live trace came before the
    /// first step: what is known stays.
    void take(const profiler::Trace& trace, std::shared_ptr<const Steps> found);
    /// Adds what `trace` has more, a few hundred at once, unless it is whole or its steps are told by something else
    /// than marks. Costs by how many were added, and once after each take() by all of them.
    void follow(const profiler::Trace& trace);

private:
    std::shared_ptr<const Steps> m_steps;
    std::shared_ptr<Steps> m_own; ///< the same, where some were added; else null
};

} // namespace app
