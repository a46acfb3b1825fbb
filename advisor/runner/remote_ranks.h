#pragma once

#include "advisor/runner/remote_trace.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace advisor::runner {

/// Reads the ranks of a job in a folder, or in the files of a pattern, on another machine: they are analysed there, and
/// only their figures are transferred. May take minutes. The number of bytes is limited; decodeJob() checks them,
/// because the other machine is not trusted.
/// @param path  relative to the shell's folder there
/// @param opening  `converting` receives the share of the files that was read there
/// @return the bytes of profiler::job::encodeJob()
profiler::Result<std::string> readRemoteRanks(const RemoteHost& host, const std::string& path,
                                              const RemoteTrace::Opening& opening);

/// Ranks that are merged into one trace (profiler/job/rank_merge.h).
struct RanksToMerge {
    std::vector<std::int64_t> ranks;  ///< their numbers, from top to bottom
    std::optional<std::int64_t> step; ///< number of a step that must be in it if it cannot contain all of them
};

/// Merges ranks of a job on another machine there, into a file in a cache. May take minutes.
/// @param path  of the job, as for readRemoteRanks()
/// @param opening  `converting` receives the share of the work that was done there
/// @return the path of the merged trace there, for RemoteTrace::open()
profiler::Result<std::string> mergeRemoteRanks(const RemoteHost& host, const std::string& path,
                                               const RanksToMerge& wanted, const RemoteTrace::Opening& opening);

} // namespace advisor::runner
