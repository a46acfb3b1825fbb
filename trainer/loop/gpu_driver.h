#pragma once

#include <string>

namespace trainer {

/// What the NVIDIA driver says, asked without LibTorch's CUDA libraries, so that asking takes milliseconds.
struct GpuState {
    bool available = false;
    std::string reason; ///< why none can be used, in words; empty when one can
    std::string name;   ///< of the first GPU
    std::string uuid;   ///< "GPU-…"
};

/// Looks at the first GPU that the process may see (CUDA_VISIBLE_DEVICES).
GpuState askGpuDriver();

} // namespace trainer
