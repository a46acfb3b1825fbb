#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <optional>
#include <string>

namespace trainer {

/// What the NVIDIA driver says, asked without LibTorch's CUDA libraries, so that asking takes milliseconds.
struct GpuState {
    bool available = false;
    profiler::Message reason; ///< why none can be used; empty when one can. Its text begins in lower case
    std::string name;         ///< of the first GPU
    std::string uuid;         ///< "GPU-…"
    int count = 0;            ///< GPUs that the process may see
};

/// Looks at the first GPU that the process may see (CUDA_VISIBLE_DEVICES).
GpuState askGpuDriver();

/// Fails where the configuration asks for more GPUs than there are: each rank of ddp and each copy of dp has its own.
/// @param localRank  of this process where it is a rank already, started by torchrun or by another Stepscope
profiler::Result<void> enoughGpus(const config::TrainingConfig& config, const GpuState& gpu,
                                  std::optional<int> localRank);

} // namespace trainer
