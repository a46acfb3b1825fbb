#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/replay/what_if_input.h"

#include <optional>
#include <vector>

/// The loader of a run: whether the devices wait for it, its setup, and what another setup would save.
namespace advisor {

/// The "silent" verdict of loader rules for a trace without steps whose devices idle less than `least` of the analysis
/// window because they wait for data. No value if there are steps, if there is no device work, or if the devices idle
/// longer.
std::optional<Advice> littleDataWaitWithoutSteps(const RuleContext& c, double least);

/// True for an imported trace without steps; the idle time of its devices is analyzed instead.
bool analyzesWithoutSteps(const RuleContext& c);
/// Its analysis window as if it were one steady step of the main thread, for analyses of the loader; empty if the trace
/// has no threads.
std::vector<profiler::analysis::Step> windowAsStep(const RuleContext& c);

/// Number of workers of the training loader: from the configuration, else from the facts that the hooks record, else
/// from the worker tracks in the trace. 0: the main thread loads, or nothing is known.
int loaderWorkers(const RuleContext& c);
/// Batches in flight per worker, from the same sources; no value if unknown.
std::optional<int> loaderPrefetchFactor(const RuleContext& c);

/// The recorded loading of a run and its uncertainty. The first epoch reads files from disk; later epochs may find them
/// in the page cache.
struct RecordedInput {
    profiler::analysis::InputModel model; ///< with all files read as fast as in the later epochs, if there are any
    /// For a single epoch: the model with all files in memory. Empty if there are more epochs or if no reads are
    /// recorded.
    profiler::analysis::InputModel cached;
};
RecordedInput recordedInput(const RuleContext& c);

/// The saving per step with another loader setup. For a single epoch, it ranges from the smaller to the larger of the
/// savings with files on disk and with files in memory.
Saving savedByLoader(const RuleContext& c, const RecordedInput& input, profiler::analysis::LoaderSetup now,
                     profiler::analysis::LoaderSetup then);

} // namespace advisor
