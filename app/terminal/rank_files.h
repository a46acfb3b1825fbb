#pragma once

#include "app/terminal/record_report.h"
#include "app/terminal/recorded_process.h"
#include "profiler/capture/collect_parts.h"
#include "profiler/model/result.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// The recording of a job: one trace per rank in one folder, and a manifest.
namespace app::terminal {

/// The parts of one rank: its training process and the processes that it started.
struct RankParts {
    std::vector<profiler::capture::TracePart> parts;
    std::map<std::string, std::string> metadata; ///< of the first one
};
/// Parts by rank. Those of processes without a rank, such as the launcher and the samples of the machine, are with the
/// lowest rank. Empty if fewer than `least` ranks have parts: the command did not start several ranks.
std::map<std::int64_t, RankParts> partsByRank(const std::vector<profiler::capture::TracePart>& parts,
                                              std::size_t least = 2);

struct RankFilesOptions {
    std::filesystem::path folder;                              ///< exists
    std::vector<std::pair<std::string, std::string>> metadata; ///< of each trace
    std::vector<profiler::Message> notes;                      ///< of the trace of the lowest rank
    std::string command, directory;
    std::string steps;          ///< "10-29"; empty: all
    std::string unrecorded;     ///< "1-6,8": ranks that ran unrecorded by choice; may be empty
    std::uint64_t maxBytes = 0; ///< of a rank; 0: no limit
    CommandEnd end;
};
/// Writes rank0.sstrace, rank1.sstrace … and job.json into the folder. The trace of a rank that cannot be written
/// becomes a note, and its parts stay; fails if none can be written.
profiler::Result<profiler::capture::Collected> collectRanks(const std::map<std::int64_t, RankParts>& ranks,
                                                            const RankFilesOptions& options);

} // namespace app::terminal
