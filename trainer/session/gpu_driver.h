#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <string>

namespace trainer {

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
