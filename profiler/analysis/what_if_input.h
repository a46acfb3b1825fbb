#pragma once

#include "profiler/analysis/input_wait.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <vector>

namespace profiler::analysis {

/// What a trace knows of loading against computing, as recorded sequences over steady steps.
struct InputModel {
    std::vector<double> loadUs;    ///< work of each batch, in the order in which loading began
    std::vector<double> computeUs; ///< of each step, without its data wait
    int workers = 0;               ///< of this run
    int cores = 0;                 ///< that the run could use; 0: not recorded
    double stepUs = 0;             ///< measured mean of a steady step
    double waitUs = 0;             ///< measured mean of what less waiting could win
    double waitErrorUs = 0;        ///< two standard errors of it: stalls are few, and other batches have others
    double loadCpuShare = 1;       ///< of a load that keeps a core busy; the rest waits for a disk or a network
    /// Enough was recorded to replay.
    [[nodiscard]] bool canPredict() const { return !loadUs.empty() && !computeUs.empty(); }
};
/// @param input  of the same trace and steps
InputModel loadModel(const Trace& trace, const std::vector<Step>& steps, const InputWait& input);

/// How a loader is set up.
struct LoaderSetup {
    int workers = 0;
    int prefetchFactor = 2; ///< batches in flight per worker
};

/// How threads share cores when there are more busy threads than cores.
enum class CoreSharing {
    Even,    ///< all are slowed alike, no core is ever idle: the best that can be hoped for
    Barrier, ///< the threads of an operator wait for the slowest, which shares its core: the worst usual case
};

/// Mean step in µs when the recorded loads and computations are replayed, in order and cyclically, through a loader of
/// this setup: workers take batches in order, at most workers × prefetchFactor are loaded or lie ready, steps take them
/// in order. Unknown cores: all that are wanted (Even), a single one (Barrier).
/// @param computeThreads  that a step's computing keeps busy
double replayStepUs(const InputModel& model, LoaderSetup setup, int computeThreads, CoreSharing sharing);

/// What another setup should save, in µs a step; negative: it costs.
struct InputPrediction {
    double lowUs = 0, midUs = 0, highUs = 0;
};
/// Loads share cores only with the part of them that was recorded as work (metadata `loader.load_cpu_share`; all of it
/// where a trace does not say). The best case shares cores evenly; the worst shares them at barriers, and where more workers run than did, every
/// thread is disturbed all the time as much as it was in its slow tenth: what threads take from each other's caches and
/// memory bandwidth is not in a trace. Both are scaled so that the replay of the present setup gives the measured step,
/// and never above the wait that was measured; then moved apart by two standard errors of so few batches, by what the
/// quarters of the recording say or the waits of its steps, up to the wait with its own error.
InputPrediction predictInput(const InputModel& model, LoaderSetup now, LoaderSetup then, int computeThreads);

} // namespace profiler::analysis
