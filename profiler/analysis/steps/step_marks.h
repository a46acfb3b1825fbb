#pragma once

#include "profiler/analysis/steps/steps.h"

#include <string_view>
#include <vector>

namespace profiler::analysis {

/// True for the names with which PyTorch's profiler marks steps: "ProfilerStep#5".
constexpr bool isProfilerStep(std::string_view name)
{
    return name.starts_with("ProfilerStep#");
}

/// The steps that a trace marks, by start, without parts. With a range: the NVTX ranges and annotations of that name,
/// or of that name and a number (isOfRange() in range_name.h). Otherwise our own marks, otherwise those of PyTorch's
/// profiler. If several threads have marks, as in a trace of several training processes, those of the thread with the
/// most. The index is the number in the name, otherwise the position.
std::vector<Step> stepMarks(const Trace& trace, std::string_view range);

/// The number of processes that mark such steps: ranks of one training in one file. At least 1.
int markingProcesses(const Trace& trace, const std::vector<Step>& steps);

/// True unless the track is known to belong to another process than these steps, such as another rank in the same file.
/// The activity of such a track is not part of these steps.
bool isOfSameProcess(const Trace& trace, const Track& track, const std::vector<Step>& steps);

/// True for a process that marks steps in the same way and is not the process of these steps: another rank. A loader
/// worker process marks no steps and may belong to any rank.
bool isOfOtherSteps(const Trace& trace, std::int64_t process, const std::vector<Step>& steps);

/// True if the marks start in the middle of a run, as with a profiler schedule. The first step is then not necessarily
/// warm-up.
bool beginInTheMiddle(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
