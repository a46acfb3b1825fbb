#pragma once

#include "profiler/analysis/steps.h"

#include <string_view>
#include <vector>

namespace profiler::analysis {

/// True for the name by which PyTorch's profiler marks a step: "ProfilerStep#5".
constexpr bool isProfilerStep(std::string_view name)
{
    return name.starts_with("ProfilerStep#");
}

/// The steps that a trace marks, by begin, without parts. With a range: the NVTX ranges and annotations of that name,
/// or of that name and a number (isOfRange() in range_name.h). Else our own marks, else those of PyTorch's profiler.
/// Where several threads have them, as processes that train together do, those of the thread with the most. Index: the
/// number in the name, else the position.
std::vector<Step> stepMarks(const Trace& trace, std::string_view range);

/// How many processes mark such steps, each its own: ranks of one training in one file. At least 1.
int markingProcesses(const Trace& trace, const std::vector<Step>& steps);

/// True unless the track is known to be of another process than the one whose steps these are, as those of other ranks
/// in one file are: what goes on there is no part of these steps.
bool isOfSameProcess(const Trace& trace, const Track& track, const std::vector<Step>& steps);

/// True for a process that marks steps as these are marked, and is not theirs: another rank. A loader worker that is a
/// process of its own marks none, and may be of any of them.
bool isOfOtherSteps(const Trace& trace, std::int64_t process, const std::vector<Step>& steps);

/// True where marks begin in the middle of a run, as a profiler's schedule has it: then the first is no warm-up by
/// itself.
bool beginInTheMiddle(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
