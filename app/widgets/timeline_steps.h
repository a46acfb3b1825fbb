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

/// What an analysis of an earlier snapshot found, and the marks that a live trace has made since: the newest steps
/// stand on the ruler although an analysis is under way. Only range, index and slice of the added ones are known.
/// Costs by how many were added; a few hundred at once.
/// @param known  null: none was looked for yet, the main thread's outermost slices are asked
/// @return `known` itself where nothing is to be added: the trace is whole, or its steps are told by something else
std::shared_ptr<const Steps> withNewSteps(const profiler::Trace& trace, std::shared_ptr<const Steps> known);

} // namespace app
