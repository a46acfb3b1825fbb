#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <string>
#include <vector>

namespace profiler::analysis {

/// What the loader did, over steady steps.
struct InputWait {
    int workers = 0;              ///< worker tracks seen; 0: the main thread loads
    int cores = 0;                ///< that the run could use ("host.cores"); 0: not recorded
    double waitUsPerStep = 0;     ///< mean data wait of the main thread
    double waitShare = 0;         ///< of the steady step time, [0, 1]
    double stallShareOfSteps = 0; ///< share of steady steps that waited over 5 % of the mean step
    double idleWaitUsPerStep =
        0; ///< of waitUsPerStep, while no device worked: what less waiting can win; all without a device
    double computeUsPerStep = 0; ///< step without the wait
    double loadUsPerBatch = 0;   ///< worker time (or main-thread time) that one batch costs, stages summed
    double loadUsPerBatchP90 = 0;
    double workerBusyShare = 0; ///< share of worker time in stages, [0, 1]; 0 without workers
    struct Stage {
        std::string name;
        double usPerBatch = 0;
        double share = 0; ///< of loadUsPerBatch
    };
    std::vector<Stage> stages;         ///< by stage, largest first
    std::vector<SliceId> longestWaits; ///< Phase "data wait" slices, longest first, at most ten
};

/// With no workers the stages lie on the main thread inside its "data wait"; with workers on their tracks, where a
/// batch counts to the step in which its loading began. Cores come from the metadata "host.cores".
/// @param busy  when any device did something, see deviceBusy()
InputWait inputWait(const Trace& trace, const std::vector<Step>& steps, const Intervals& busy);

} // namespace profiler::analysis
