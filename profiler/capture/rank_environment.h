#pragma once

#include <string>
#include <utility>
#include <vector>

namespace profiler::capture {

/// Keys of a process's metadata that name its rank. They describe the process, so a trace that several processes are
/// merged into does not have them.
namespace rank_key {
inline constexpr const char* kPrefix = "process.";
inline constexpr const char* kRank = "process.rank";
inline constexpr const char* kWorldSize = "process.world_size";
inline constexpr const char* kHost = "process.host";
inline constexpr const char* kJob = "process.job"; ///< id of the launch; empty if the launcher has none
} // namespace rank_key

/// The rank of this process as torchrun, MPI or Slurm set it in the environment, as metadata; empty if the process is
/// not one of several ranks. Processes that a rank starts, such as loader workers, have the same rank.
std::vector<std::pair<std::string, std::string>> rankMetadata();

} // namespace profiler::capture
