#pragma once

#include "profiler/analysis/call_tree/call_tree.h"

#include <stop_token>

namespace advisor {

/// True if the trace contains the calls that the grouping needs, recorded or, for Python functions, sampled.
bool hasCallsOrSamples(const profiler::Trace& trace, profiler::analysis::CallGrouping grouping);

/// The calls of a trace, as profiler::analysis::callTree() reads them. If a trace has no Python functions but samples
/// of the user's lines, as recordings of Python programs do, the calls of the Python grouping come from these: a name
/// is "file(line): function", its time is that of its samples, and it has no number of calls. Device work is below the
/// innermost user line at its launch.
/// @param stop  checked periodically; after a stop, the result is meaningless
profiler::analysis::CallTree callsOrSamples(const profiler::Trace& trace,
                                            const profiler::analysis::CallTreeOptions& options,
                                            const std::stop_token& stop = {});

} // namespace advisor
