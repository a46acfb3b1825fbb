#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/replay/what_if_input.h"

namespace advisor {

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
