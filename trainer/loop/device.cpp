#include "trainer/loop/device.h"

#include "trainer/parallel/local_ranks.h"
#include "trainer/parallel/process_group.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

namespace trainer {

namespace {

/// @return why it cannot be used; empty: it can
std::string loadCudaLibraries()
{
    // Global: libtorch_cuda's parts find each other's symbols that way.
    if (!dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL))
        return std::string("LibTorch's CUDA libraries cannot be loaded: ") + dlerror();
    if (!at::globalContext().hasCUDA())
        return "LibTorch finds no GPU that it can use";
    at::globalContext().lazyInitDevice(c10::kCUDA);
    return {};
}

} // namespace

profiler::Result<ChosenDevice> chooseDevice(const config::TrainingConfig& config, const GpuState& gpu)
{
    const std::string wanted = config[config::key::device];
    if (wanted == "cpu" || !gpu.available)
        return ChosenDevice{c10::kCPU, "cpu", {}};
    const std::string problem = loadCudaLibraries();
    if (problem.empty()) {
        // Each process that trains with others on this machine has a GPU of its own.
        const bool isRank = config[config::key::parallel] == "ddp" && LocalRanks::isRank();
        const int index = isRank ? Ranks::fromEnvironment().localRank : 0;
        const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
        c10::impl::VirtualGuardImpl(c10::kCUDA).setDevice(device);
        return ChosenDevice{device, gpu.name, {}};
    }
    if (wanted == "cuda")
        return profiler::fail<"device.no_cuda", "{problem}">(
            profiler::Error::Code::Unavailable, gpu.name, "set device=cpu to go on without it", {{"problem", problem}});
    return ChosenDevice{c10::kCPU, "cpu", problem};
}

} // namespace trainer
