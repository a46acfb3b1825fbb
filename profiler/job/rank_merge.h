#pragma once

#include "profiler/job/open_job.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

/// One trace of several ranks on the clock of their job.
namespace profiler::job {

/// Ranks in a merged trace.
inline constexpr std::size_t kMostMerged = 64;

/// Name of the process of a rank in a merged trace: "rank 3 on node0".
std::string mergedName(const analysis::RankDigest& rank);

struct MergeOptions {
    unsigned threads = 0; ///< that may work; 0: one per core
    /// Slices that the merged trace may contain. If the ranks have more, the trace contains only steps around `step`.
    std::uint64_t mostSlices = 8'000'000;
    std::optional<std::size_t> step; ///< index into JobAnalysis::steps
    std::stop_token stop;            ///< a stop request ends with Error::Code::Cancelled
    /// Receives the share of the ranks that has been read, [0, 1].
    std::function<void(double)> progress;
};

/// Reads the traces of some ranks again and merges them: each rank becomes a process with its threads, devices and
/// streams (see mergedName()), and the order of processes is that of `ranks`. Times are those of the job's clock.
/// Arrows lead from the rank that arrived last at a collective to each of the others. Metadata is that of the first
/// rank; arguments that only the files contain are left out.
/// @param ranks  indices into Job::ranks, at most kMostMerged, each once
Result<std::shared_ptr<const Trace>> mergeRanks(const Job& job, std::span<const std::size_t> ranks,
                                                const MergeOptions& options = {});

} // namespace profiler::job
