#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

/// Queries about the machine and the own process: cores, memory, the GPU and its libraries. Without
/// LibTorch.
namespace trainer {

/// Cores that this process may use: its CPU affinity, limited by the CPU quota of its control group (v2 or v1). At
/// least 1.
/// @param root  "/" except in tests
int usableCores(const std::filesystem::path& root = "/");
/// Current and peak memory of the process in bytes (resident set).
std::int64_t residentBytes();
std::int64_t peakResidentBytes();

/// Versions of the GPU libraries loaded by this process, for the trace: "cudnn", "nccl", "cuda_runtime". Libraries that
/// are not loaded are omitted: a training on the CPU has none. Call it after choosing the device; it loads nothing.
std::map<std::string, std::string> loadedLibraryVersions();

/// "9.19.0" from 91900; before version 9, "8.9.7" from 8907.
std::string cudnnVersionText(std::int64_t number);
/// "2.28.9" from 22809; before 2.9, "2.8.4" from 2804.
std::string ncclVersionText(std::int64_t number);
/// "13.0" from 13000.
std::string cudaVersionText(std::int64_t number);

/// Information from the NVIDIA driver, queried without LibTorch's CUDA libraries, which takes only milliseconds.
struct GpuState {
    bool available = false;
    profiler::Message reason; ///< why no GPU can be used; empty if one can. The text starts in lower case
    std::string name;         ///< of the first GPU
    std::string uuid;         ///< "GPU-…"
    int count = 0;            ///< GPUs visible to the process
};

/// Queries the first GPU that is visible to the process (CUDA_VISIBLE_DEVICES).
GpuState askGpuDriver();

/// Fails if the configuration needs more GPUs than there are: each DDP rank and each DataParallel copy needs its own.
/// @param localRank  of this process if torchrun or another Stepscope process started it as a rank
profiler::Result<void> enoughGpus(const config::TrainingConfig& config, const GpuState& gpu,
                                  std::optional<int> localRank);

} // namespace trainer
