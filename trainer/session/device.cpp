#include "trainer/session/device.h"

#include "profiler/os/libraries.h"
#include "trainer/parallel/local_ranks.h"
#include "trainer/parallel/process_group.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace trainer {

namespace {

using profiler::os::Library;

/// @return why the GPU cannot be used; empty: it can
profiler::Message loadCudaLibraries()
{
    // The global scope lets the libraries of libtorch_cuda find each other's symbols.
    if (!Library::open("libtorch_cuda.so", Library::Binding::Now, Library::Scope::Global))
        return profiler::message<"device.no_cuda_libraries", "LibTorch's CUDA libraries cannot be loaded: {why}">(
            {{"why", Library::lastError()}});
    if (!at::globalContext().hasCUDA())
        return profiler::message<"device.no_usable_gpu", "LibTorch finds no usable GPU">();
    at::globalContext().lazyInitDevice(c10::kCUDA);
    return {};
}

} // namespace

profiler::Result<ChosenDevice> chooseDevice(const config::TrainingConfig& config, const GpuState& gpu)
{
    const std::string wanted = config[config::key::device];
    if (wanted == "cpu" || !gpu.available)
        return ChosenDevice{c10::kCPU, "cpu", {}};
    const profiler::Message problem = loadCudaLibraries();
    if (problem.empty()) {
        // With DDP, each process on this machine has its own GPU.
        const bool isRank = config[config::key::parallel] == "ddp" && LocalRanks::isRank();
        const int index = isRank ? Ranks::fromEnvironment().localRank : 0;
        const c10::Device device(c10::kCUDA, static_cast<c10::DeviceIndex>(index));
        c10::impl::VirtualGuardImpl(c10::kCUDA).setDevice(device);
        return ChosenDevice{device, gpu.name, {}};
    }
    if (wanted == "cuda")
        return tl::unexpected(profiler::Error{profiler::Error::Code::Unavailable, problem, gpu.name,
                                              "set device=cpu to train without it"});
    return ChosenDevice{c10::kCPU, "cpu", problem};
}

} // namespace trainer
