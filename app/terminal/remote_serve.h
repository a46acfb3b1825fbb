#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

/// The far side of a trace that is open on another machine.
namespace app::terminal {

/// Opens a trace, converts it to a sealed file in a cache if it is not one, and answers requests for its bytes: lines
/// "OFFSET LENGTH" from standard input are answered by one Data frame each (advisor/runner/remote_frames.h). Ends when
/// standard input does.
/// @param cache  folder of converted traces. They are converted again when the trace has changed; those that were not
///               used for a month are deleted
/// A folder or a pattern is answered by a Ranks frame.
/// @return the exit status for main()
int serveRemoteTrace(const std::filesystem::path& trace, const std::filesystem::path& cache);

/// Reads the ranks of a job, and writes its figures (profiler/job/job_digests.h) to a file. Prints the share of the
/// files that have been read to standard output, a line each, and an error to standard error.
/// @param ranks  a folder or a pattern
/// @param cache  see serveRemoteTrace(); keeps the figures for mergeRemoteRanks()
/// @return the exit status for main()
int writeRemoteRanks(const std::filesystem::path& ranks, const std::filesystem::path& file,
                     const std::filesystem::path& cache);

/// Merges ranks of a job (profiler/job/rank_merge.h) into a sealed file in the cache, unless it is there already.
/// Prints the share of the work that is done to standard output, a line each, then "trace NAME" with the name of the
/// file in the cache; and an error to standard error.
/// @param ranks  a folder or a pattern
/// @param numbers  of the ranks, from top to bottom
/// @param step  number of a step that must be in the merged trace if it cannot contain all of them
/// @return the exit status for main()
int mergeRemoteRanks(const std::filesystem::path& ranks, const std::vector<std::int64_t>& numbers,
                     std::optional<std::int64_t> step, const std::filesystem::path& cache);

} // namespace app::terminal
