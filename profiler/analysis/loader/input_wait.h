#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <string>
#include <vector>

namespace profiler::analysis {

/// The data loader's work, over the steady steps.
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

} // namespace profiler::analysis
