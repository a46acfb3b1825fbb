#pragma once

#include "advisor/rule.h"

#include <optional>

namespace advisor {

/// What a rule about loading says of a trace without steps whose devices idle less than `least` of the judged time for
/// want of data: silent. No value with steps, without device work, and where they idle longer.
std::optional<Advice> littleDataWaitWithoutSteps(const Case& c, double least);

/// Workers of the training's loader: of the configuration, of the facts that the hooks record, else the tracks of
/// workers in the trace. 0: the main thread loads, or nothing is known.
int loaderWorkers(const Case& c);
/// Batches in flight for each worker, from the same places; no value where it is not known.
std::optional<int> loaderPrefetchFactor(const Case& c);

} // namespace advisor
