#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <vector>

namespace profiler::analysis {

/// One batch as loaded by a loader worker, or by the main thread if there are no workers.
struct LoadedBatch {
    TrackId track;
    TimeRange range;    ///< from the start of the first stage to the end of the last
    Nanoseconds work{}; ///< the part of it that was not spent waiting
    std::vector<Slice> stages;
};

/// True for the tracks of loader workers of the process that these steps belong to: one of its threads, or a process
/// that marks no steps, such as PyTorch's workers.
bool isWorker(const Trace& trace, const Track& track, const std::vector<Step>& steps);

/// Number of loader workers that worked during steady steps, by name: a worker that is recreated in each epoch counts
/// once.
int workerCount(const Trace& trace, const std::vector<Step>& steps);

/// Batches whose loading started in a steady step, by start. On a worker, a batch ends with its `collate` stage and a
/// following pin stage, or at a LoaderWait if collating is not recorded. On the main thread, the stages within a "data
/// wait" form a batch. Batches that are cut off at either end of the trace are left out.
std::vector<LoadedBatch> loadedBatches(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
