#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/what_if_input.h"

namespace advisor {

/// What is known of a run's loading, and how sure that is. In the first epoch files are read from a disk, later ones
/// may find them in memory.
struct InputCase {
    profiler::analysis::InputModel model; ///< with all files read as in the later epochs, where there are any
    /// With a single epoch, the same as if all files were in memory. Empty with more, and where no reading is recorded.
    profiler::analysis::InputModel cached;
};
InputCase inputCase(const RuleContext& c);

/// What another setup of the loader should save a step: with a single epoch, from the least to the most of what it
/// saves with files on a disk and with files in memory.
Saving savedByLoader(const RuleContext& c, const InputCase& input, profiler::analysis::LoaderSetup now,
                     profiler::analysis::LoaderSetup then);

} // namespace advisor
