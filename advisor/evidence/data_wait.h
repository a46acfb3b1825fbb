#pragma once

#include "advisor/rule.h"

#include <optional>
#include <vector>

namespace advisor {

/// What a rule about loading says of a trace without steps whose devices idle less than `least` of the judged time for
/// want of data: silent. No value with steps, without device work, and where they idle longer.
std::optional<Advice> littleDataWaitWithoutSteps(const RuleContext& c, double least);

/// An imported trace without steps, whose devices' idle time is judged instead.
bool judgesWithoutSteps(const RuleContext& c);
/// Its judged time as if it were one steady step of the main thread, for analyses of the loader; empty where it has no
/// thread.
std::vector<profiler::analysis::Step> judgedTimeAsStep(const RuleContext& c);

/// Workers of the training's loader: of the configuration, of the facts that the hooks record, else the tracks of
/// workers in the trace. 0: the main thread loads, or nothing is known.
int loaderWorkers(const RuleContext& c);
/// Batches in flight for each worker, from the same places; no value where it is not known.
std::optional<int> loaderPrefetchFactor(const RuleContext& c);

} // namespace advisor
