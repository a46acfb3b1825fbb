#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace profiler::analysis {

/// The activity of one loader worker during the steady steps. Workers that are recreated in each epoch with the same
/// name count as one.
struct WorkerUse {
    std::string name;        ///< "loader worker 0"
    Nanoseconds busy{};      ///< in stages
    Nanoseconds waiting{};   ///< for work, or for room in the queue, as recorded
    double busyShare = 0;    ///< share of the steady time, [0, 1]
    double waitingShare = 0; ///< share of the steady time, [0, 1]
    std::int64_t batches = 0;
    double usPerBatch = 0; ///< mean work per batch; 0 without batches
    SliceId longest;       ///< its longest stage
};

/// How evenly the workers share the work.
struct LoaderBalance {
    std::vector<WorkerUse> workers; ///< by name
    double busiestOverMean = 0;     ///< busy time of the busiest worker over the mean; 1: even
    std::size_t slowest = 0;        ///< the worker with the longest mean batch
    double slowestOverMean = 0;     ///< its mean batch over the mean of all batches; 0 if batches are unknown
    std::string cannotTell;         ///< the reason why there are no workers; empty if there are
};
LoaderBalance loaderBalance(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
