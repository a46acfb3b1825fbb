#pragma once

#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace profiler::analysis {

/// What one loader worker did during the steady steps. One that is made anew each epoch, with the same name, is one.
struct WorkerUse {
    std::string name;        ///< "loader worker 0"
    Nanoseconds busy{};      ///< in stages
    Nanoseconds waiting{};   ///< for work, or for room in the queue, as it records
    double busyShare = 0;    ///< of the steady time, [0, 1]
    double waitingShare = 0; ///< of the steady time, [0, 1]
    std::int64_t batches = 0;
    double usPerBatch = 0; ///< of work, mean; 0 without batches
    SliceId longest;       ///< its longest stage
};

/// Whether the workers share the work evenly.
struct LoaderBalance {
    std::vector<WorkerUse> workers; ///< by name
    double busiestOverMean = 0;     ///< busy time of the busiest over the workers' mean; 1: even
    std::size_t slowest = 0;        ///< the one with the longest mean batch
    double slowestOverMean = 0;     ///< of that over the mean of all batches; 0 where batches are not told
    std::string cannotTell;         ///< why there are no workers; empty: there are
};
LoaderBalance loaderBalance(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
