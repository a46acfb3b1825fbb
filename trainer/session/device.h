#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"
#include "trainer/session/gpu_driver.h"

#include <c10/core/Device.h>
#include <string>

namespace trainer {

struct ChosenDevice {
    c10::Device device{c10::kCPU};
    std::string name;       ///< "cpu", or the GPU's name
    profiler::Message note; ///< why "auto" did not choose a GPU; empty: no note
};

/// The device that the configuration asks for. Loads LibTorch's CUDA libraries only if a GPU is used: they are not
/// linked, so that the trainer starts faster and needs less memory on a machine without a GPU.
profiler::Result<ChosenDevice> chooseDevice(const config::TrainingConfig& config, const GpuState& gpu);

} // namespace trainer
