#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace profiler::analysis {

/// One rank of a job if one trace contains several: a process with its own devices or steps.
struct Rank {
    std::int64_t number = 0;  ///< from its name ("rank 3", "[TP03]"), otherwise its position in the order of devices
    std::int64_t process = 0; ///< Track::pid
    std::string name;         ///< name of the process: "python 4711"
    std::set<DeviceId> devices;
    std::shared_ptr<const Trace> trace; ///< the activity of this rank, with the ids of the whole trace
    std::vector<Step> steps;            ///< its own steps, by the same marks; empty: it marks none
    bool sharesDevices = false;         ///< some device work cannot be assigned; each rank includes all of it
};

/// The ranks of a trace, by number. Empty for the trace of one process, or if only one process works. Ranks are the
/// processes that mark steps in the same way as `steps`, and those that keep their own devices busy. A stream belongs
/// to the process that the trace names, otherwise to the process whose calls match its work best: same correlation id,
/// started before the work, with the shortest delay. Threads of processes that are not ranks, such as loader workers,
/// belong to every rank.
/// @param steps  of the trace, as returned by findSteps(); inferred steps (Step::found) cannot distinguish ranks
std::vector<Rank> ranksOf(const Trace& trace, const std::vector<Step>& steps);

/// The rank that represents a job. Each step of a job lasts until the slowest rank is done, so this is the rank with
/// the longest mean steady step. If the means differ by less than 1 %, it is the rank of `steps`, otherwise the one
/// with the most device work.
const Rank& representativeRank(const std::vector<Rank>& ranks, const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
