#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/loop/gpu_driver.h"

#include <c10/core/Device.h>
#include <string>

namespace trainer {

struct ChosenDevice {
    c10::Device device{c10::kCPU};
    std::string name;       ///< "cpu", or the GPU's name
    profiler::Message note; ///< why "auto" passed over a GPU; empty: nothing to say
};

/// The device that the configuration asks for. Loads LibTorch's CUDA libraries where a GPU is taken: they are not
/// linked, so that a machine without one starts faster and needs less memory.
profiler::Result<ChosenDevice> chooseDevice(const config::TrainingConfig& config, const GpuState& gpu);

} // namespace trainer
