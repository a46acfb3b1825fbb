#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

/// Traces of all ranks of a simulated training, as PyTorch's profiler writes them, with a known cause of trouble. Each
/// rank has a host thread, a compute stream and a communication stream; kernels of a collective start when their rank
/// arrives and end together, after the last arrival plus the transfer. A single rank does not communicate.
namespace test_support {

enum class Fault : std::uint8_t { None, SlowCompute, Throttling, SlowHost, SlowLoader, GarbageCollection, SlowLink };

struct JobTraceOptions {
    int ranks = 8, ranksPerHost = 4;
    int tensorParallel = 1; ///< size of the tensor-parallel groups of consecutive ranks; 1: data parallel only
    int pipelineStages = 1; ///< stages of consecutive ranks that pass micro-batches on; excludes tensor parallelism
    int microBatches = 4;   ///< of a pipeline: all forward passes, then all backward passes
    /// All-reduces per step, one after another and after the backward pass, instead of buckets; 0: buckets.
    int parameterExchanges = 0;
    double tokenSkew = 0; ///< each step has an all-to-all of all ranks, in which rank 0 has this share more; 0: none
    int steps = 12;
    int layers = 16;        ///< kernels in a forward pass; twice as much time in the backward pass
    int extraOperators = 0; ///< operators without kernels per layer
    unsigned seed = 1;
    double jitter = 0.01;                   ///< relative standard deviation of all durations
    double kernelUs = 300, operatorUs = 40; ///< of a layer: on the device in the forward pass, and on the host
    double dataWaitUs = 200;                ///< of a step

    Fault fault = Fault::None;
    std::set<int> faultyRanks{};
    std::set<int> faultySteps{}; ///< empty: all
    double amount = 0.25;        ///< time that the fault costs, as a share of the compute time of a step

    std::vector<std::int64_t> clockOffsetNs{}; ///< by host: what its clock shows beyond the true time; empty: exact
    double driftPpm = 0;                       ///< of the last host's clock
    std::int64_t clockJumpNs = 0;              ///< of the last host's clock, in the middle of the recording
    bool groups = true;                        ///< process groups and sizes are recorded
    bool sequences = true;                     ///< and sequence numbers
    bool distributedInfo = true;               ///< the rank is in the file; otherwise only in its name
    int firstStep = 10;                        ///< number of the first recorded step
    std::set<int> lost{};                      ///< ranks without a file
    std::string name = "rank{}.json";          ///< of the files; {} is the rank
    std::string device = "NVIDIA H100 80GB HBM3";
};

/// Names of the files that were written, by rank; lost ranks have an empty path.
std::vector<std::filesystem::path> writeJobTraces(const std::filesystem::path& folder, const JobTraceOptions& options);

} // namespace test_support
