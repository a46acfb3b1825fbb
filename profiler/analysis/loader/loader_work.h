#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <string>
#include <vector>

/// The work of the data loader: the batches that it loads, how long the training waits for them, and how evenly its
/// workers share the work.
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

/// How long the training waits for its data loader, over the steady steps.
struct InputWait {
    int workers = 0;              ///< number of worker tracks; 0: the main thread loads
    int cores = 0;                ///< cores available to the run ("host.cores"); 0: not recorded
    double waitUsPerStep = 0;     ///< mean data wait of the main thread
    double waitShare = 0;         ///< relative to the steady step time, [0, 1]
    double stallShareOfSteps = 0; ///< share of steady steps with a wait over 5 % of the mean step
    double idleWaitUsPerStep =
        0; ///< part of waitUsPerStep in which no device worked: the possible saving; everything if there is no device
    double computeUsPerStep = 0; ///< step time without the wait
    double loadUsPerBatch = 0;   ///< worker time (or main-thread time) per batch, summed over stages
    double loadUsPerBatchP90 = 0;
    double workerBusyShare = 0; ///< share of worker time spent in stages, [0, 1]; 0 without workers
    struct Stage {
        std::string name;
        double usPerBatch = 0;
        double share = 0; ///< share of loadUsPerBatch
    };
    std::vector<Stage> stages;         ///< largest first
    std::vector<SliceId> longestWaits; ///< Phase slices "data wait", longest first, at most ten
};

/// Without workers, the stages are on the main thread, inside its "data wait". With workers, they are on the worker
/// tracks, and a batch belongs to the step in which its loading started. The number of cores comes from the metadata
/// "host.cores".
/// @param busy  times in which any device worked, see deviceBusy()
InputWait inputWait(const Trace& trace, const std::vector<Step>& steps, const Intervals& busy);

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
