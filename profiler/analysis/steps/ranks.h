#pragma once

#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace profiler::analysis {

/// One rank of a job, where one trace holds several: a process with devices or steps of its own.
struct Rank {
    std::int64_t number = 0;  ///< as its names say ("rank 3", "[TP03]"), else its position in the order of devices
    std::int64_t process = 0; ///< Track::pid
    std::string name;         ///< of the process: "python 4711"
    std::set<DeviceId> devices;
    std::shared_ptr<const Trace> trace; ///< what this rank did, with the ids of the whole trace
    std::vector<Step> steps;            ///< its own, by the same marks; empty: it marks none
    bool sharesDevices = false; ///< the trace does not tell all ranks' device work apart: each has what is unassigned
};

/// The ranks of a trace, by number; empty for the trace of one process, or where only one works. Ranks are the
/// processes that mark steps as `steps` are marked, and those that keep devices of their own busy. A stream belongs to
/// the process that the trace names, else to the process whose calls fit its work best: by correlation, begun before
/// the work, and soonest before it. Threads of processes that are no rank, as those of loader workers are, belong to
/// every rank.
/// @param steps  of the trace, as findSteps() gives them; found ones (Step::found) tell no ranks apart
std::vector<Rank> ranksOf(const Trace& trace, const std::vector<Step>& steps);

/// The rank by which a job is judged, as each of its steps lasts until the slowest rank is done: that with the longest
/// mean steady step. A difference under one percent is none; then the rank of `steps`, else the one with the most
/// device work.
const Rank& judgedRank(const std::vector<Rank>& ranks, const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
