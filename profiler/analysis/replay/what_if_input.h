#pragma once

#include "profiler/analysis/loader/loader_work.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <vector>

namespace profiler::analysis {

/// What a trace contains about loading and computing, as recorded sequences over the steady steps.
struct InputModel {
    std::vector<double> loadUs;    ///< work of each batch, in the order in which loading started
    std::vector<double> computeUs; ///< for each step, without its data wait
    int workers = 0;               ///< workers of the recorded run
    int cores = 0;                 ///< cores available to the run; 0: not recorded
    double stepUs = 0;             ///< measured mean of a steady step
    double waitUs = 0;             ///< measured mean of the wait that a faster loader could save
    double waitErrorUs = 0;        ///< two standard errors of it: stalls are rare and vary between batches
    double loadCpuShare = 1;       ///< share of a load that keeps a core busy; the rest waits for a disk or a network
    /// True if enough was recorded for a replay.
    [[nodiscard]] bool canPredict() const { return !loadUs.empty() && !computeUs.empty(); }
};
/// @param input  of the same trace and steps
InputModel loadModel(const Trace& trace, const std::vector<Step>& steps, const InputWait& input);

/// The settings of a data loader.
struct LoaderSetup {
    int workers = 0;
    int prefetchFactor = 2; ///< batches in flight per worker
};

/// How threads share cores if more threads than cores are busy.
enum class CoreSharing {
    Even,    ///< all are slowed equally and no core is idle: the best case
    Barrier, ///< the threads of an operator wait for the slowest one, which shares its core: the usual worst case
};

/// Mean step in µs when the recorded loads and computations are replayed, in order and cyclically, through a loader
/// with this setup. Workers take batches in order, at most workers × prefetchFactor batches are loading or ready, and
/// steps consume them in order. If the number of cores is unknown, it is sufficient (Even) or one (Barrier).
/// @param computeThreads  threads that the computation of a step keeps busy
double replayStepUs(const InputModel& model, LoaderSetup setup, int computeThreads, CoreSharing sharing);

/// The expected saving of another setup, in µs per step; negative if it costs time.
struct InputPrediction {
    double lowUs = 0, midUs = 0, highUs = 0;
    double modelUs = 0; ///< midpoint between the best and the worst case, before the noise of the recording widens them
};
/// Loads use cores only for the share that was recorded as work (metadata `loader.load_cpu_share`; all of it if not
/// recorded). The best case shares cores evenly. The worst case shares them at barriers; if more workers run than
/// before, every thread is also as slow as in its slowest tenth, because the trace cannot show how threads compete for
/// caches and memory bandwidth. Both cases are scaled so that the replay of the current setup gives the measured step,
/// and they are limited to the measured wait. The interval is then widened by two standard errors, estimated from the
/// quarters of the recording or from the waits of its steps, and limited to the wait including its own error.
InputPrediction predictInput(const InputModel& model, LoaderSetup now, LoaderSetup then, int computeThreads);

} // namespace profiler::analysis
