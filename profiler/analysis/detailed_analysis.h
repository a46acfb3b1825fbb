#pragma once

#include "profiler/analysis/call_sites.h"
#include "profiler/analysis/copy_bandwidth.h"
#include "profiler/analysis/critical_path.h"
#include "profiler/analysis/launch_statistics.h"
#include "profiler/analysis/loader_balance.h"
#include "profiler/analysis/stragglers.h"

#include <stop_token>
#include <vector>

namespace profiler::analysis {

/// Analyses that no rule stands on: for who looks closer at a trace that is whole. They cost about as much again as
/// analyse(), so nothing that is refreshed while a trace grows asks for them.
struct DetailedAnalysis {
    JudgedPart part; ///< what all but the workers, the best copies and, as told below, the path look at
    LaunchStatistics launches;
    CriticalPath path;
    JudgedPart pathPart; ///< of those steps the ones with operators, where others have none: names stay comparable
    CopyBandwidth copies;
    CallSites memsets, syncs;
    LoaderBalance loader;
    Stragglers stragglers;
};
/// On two threads. The path names what the host did by its innermost call, operator or range.
/// @param job   all but the stragglers of the rank alone whose steps these are, where the trace holds several ranks
/// @param stop  asked every few milliseconds; what is returned then means nothing
DetailedAnalysis detailedAnalysis(const Trace& job, const std::vector<Step>& steps, const std::stop_token& stop = {});

} // namespace profiler::analysis
