#pragma once

#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <vector>

namespace profiler::analysis {

/// One batch as a loader worker, or the main thread where there are no workers, made it.
struct LoadedBatch {
    TrackId track;
    TimeRange range;    ///< first stage's begin to last stage's end
    Nanoseconds work{}; ///< of that, not waiting
    std::vector<Slice> stages;
};

/// True for the track of a loader worker of the process whose steps these are: of one of its threads, or of a process
/// that marks no steps of its own, as PyTorch's workers are.
bool isWorker(const Trace& trace, const Track& track, const std::vector<Step>& steps);

/// Loader workers that worked during steady steps, by name: a worker that is made anew each epoch is one.
int workerCount(const Trace& trace, const std::vector<Step>& steps);

/// Batches whose loading began in a steady step, by begin. On a worker a batch ends with its `collate` stage, and what
/// pins it after that, or at a LoaderWait where no collating is recorded; on the main thread it is what lies in a "data
/// wait". What is cut at either end of the trace is left out.
std::vector<LoadedBatch> loadedBatches(const Trace& trace, const std::vector<Step>& steps);

} // namespace profiler::analysis
