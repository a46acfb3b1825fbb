#pragma once

#include "profiler/analysis/communication/stragglers.h"
#include "profiler/analysis/device/copy_bandwidth.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/loader/loader_work.h"
#include "profiler/analysis/operators/call_sites.h"
#include "profiler/analysis/replay/replay.h"

#include <stop_token>
#include <vector>

namespace profiler::analysis {

/// Analyses for a detailed view of a complete trace; no rule uses them. They cost about as much as analyse(), so views
/// that refresh while a trace grows do not request them.
struct DetailedAnalysis {
    AnalysedPart part; ///< the steps covered by all analyses except the loader workers, the best copies and the path
    LaunchStatistics launches;
    CriticalPath path;
    AnalysedPart pathPart; ///< the steps of `part` with operators, if some lack them: names stay comparable
    CopyBandwidth copies;
    CallSites memsets, syncs;
    LoaderBalance loader;
    Stragglers stragglers;
};
/// Uses two threads. The path names host work by the innermost call, operator or range.
/// @param job   if the trace contains several ranks, all results except the stragglers cover only the rank of these
///              steps
/// @param stop  checked every few milliseconds; after a stop, the result is meaningless
DetailedAnalysis detailedAnalysis(const Trace& job, const std::vector<Step>& steps, const std::stop_token& stop = {});

} // namespace profiler::analysis
