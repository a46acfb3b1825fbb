#pragma once

#include "profiler/formats/pytorch/own_keys.h"
#include "profiler/model/activity.h"

#include <cstdint>
#include <string_view>

namespace profiler::formats::json {

/// The row on which events of a category are shown.
enum class RowKind : std::uint8_t {
    Host,       ///< the thread's row
    Device,     ///< the stream's row
    Annotation, ///< a separate row per stream: host ranges at the times of their device work
    Wait,       ///< a separate row per stream: waits for the stream
};
/// What flow events of a category mean.
enum class FlowUse : std::uint8_t {
    Explicit, ///< an arrow that nothing else in the file implies
    Launch,   ///< redundant: correlation ids say the same
    Backward, ///< redundant: sequence numbers say the same
};

struct Category {
    std::string_view name;
    ActivityKind kind;
    RowKind rowKind = RowKind::Host;
    FlowUse flow = FlowUse::Explicit;
};

/// The process of device work in files of torch.autograd.profiler without Kineto. Its threads are the devices.
inline constexpr std::string_view kCudaFunctions = "CUDA functions";

/// The categories that PyTorch's profiler uses or has used. The first entry stands for all others.
inline constexpr Category kCategories[] = {
    {"", ActivityKind::Other},
    {"cpu_op", ActivityKind::CpuOp},
    {"cuda_runtime", ActivityKind::CudaRuntime},
    {"kernel", ActivityKind::Kernel, RowKind::Device},
    {"ac2g", ActivityKind::Other, RowKind::Host, FlowUse::Launch},
    {"fwdbwd", ActivityKind::Other, RowKind::Host, FlowUse::Backward},
    {"gpu_memcpy", ActivityKind::GpuMemcpy, RowKind::Device},
    {"gpu_memset", ActivityKind::GpuMemset, RowKind::Device},
    {"user_annotation", ActivityKind::UserAnnotation},
    {"gpu_user_annotation", ActivityKind::GpuUserAnnotation, RowKind::Annotation},
    {"cuda_driver", ActivityKind::CudaDriver},
    {"python_function", ActivityKind::Other},
    {"cuda_sync", ActivityKind::Sync, RowKind::Wait},
    {"overhead", ActivityKind::Overhead},
    {"cpu_instant_event", ActivityKind::Other},
    {"cuda_profiler_range", ActivityKind::GpuUserAnnotation, RowKind::Annotation},
    {"Trace", ActivityKind::Other},
    {"Instant", ActivityKind::Other},
    {"python", ActivityKind::Other},
    {"Operator", ActivityKind::CpuOp},
    {"Runtime", ActivityKind::CudaRuntime},
    {"Driver", ActivityKind::CudaDriver},
    {"Kernel", ActivityKind::Kernel, RowKind::Device},
    {"Memcpy", ActivityKind::GpuMemcpy, RowKind::Device},
    {"Memset", ActivityKind::GpuMemset, RowKind::Device},
    {"async", ActivityKind::Other, RowKind::Host, FlowUse::Launch},
    {"async_cpu_to_gpu", ActivityKind::Other, RowKind::Host, FlowUse::Launch},
    {"async_gpu", ActivityKind::Other, RowKind::Host, FlowUse::Launch},
    {"cpu_to_cuda", ActivityKind::Other, RowKind::Host, FlowUse::Launch},
    {"forward_backward", ActivityKind::Other, RowKind::Host, FlowUse::Backward},
    {"User Annotation", ActivityKind::UserAnnotation},
    {"hip_runtime", ActivityKind::CudaRuntime},
    {"hip_driver", ActivityKind::CudaDriver},
    {"hip_api", ActivityKind::CudaRuntime},
    {"hip", ActivityKind::CudaRuntime},
    {"roctx", ActivityKind::Nvtx},
    {"nvtx", ActivityKind::Nvtx},
    {"xpu_runtime", ActivityKind::CudaRuntime},
    {"xpu_driver", ActivityKind::CudaDriver},
    {"mtia_runtime", ActivityKind::CudaRuntime},
    {"glow_runtime", ActivityKind::CudaRuntime},
    {"privateuse1_runtime", ActivityKind::CudaRuntime},
    {"privateuse1_driver", ActivityKind::CudaDriver},
    {"mtia_ccp_events", ActivityKind::Kernel, RowKind::Device},
    {"xpu_op", ActivityKind::CpuOp},
    {"hpu_op", ActivityKind::CpuOp},
    // Categories that Stepscope writes for kinds without a PyTorch category.
    {"step", ActivityKind::Step},
    {"phase", ActivityKind::Phase},
    {"loader_stage", ActivityKind::LoaderStage},
    {"loader_wait", ActivityKind::LoaderWait},
    {kHostSync, ActivityKind::Sync},
    // Files from before Kineto give the category by process, see processCategory().
    {"CPU functions", ActivityKind::CpuOp},
    {kCudaFunctions, ActivityKind::Kernel, RowKind::Device},
};

/// Index into kCategories; 0 for an unknown category. Ignores case. For a comma-separated list, the first known one
/// counts.
std::uint8_t categoryIndex(std::string_view name);

/// True for categories of operators. Older profilers mark steps with one of them.
inline bool isOperator(std::string_view category)
{
    return kCategories[categoryIndex(category)].kind == ActivityKind::CpuOp;
}

/// The category of an event without one, from the process text that torch.autograd.profiler wrote; 0 if there is none.
inline std::uint8_t processCategory(std::string_view process)
{
    return process.ends_with(" functions") ? categoryIndex(process) : std::uint8_t{0};
}

/// A copy's kind and the kinds of memory at both ends, from its name: "Memcpy HtoD (Pageable -> Device)",
/// "CopyHostToDevice".
struct CopyName {
    CopyKind copy = CopyKind::Unknown;
    MemoryKind src = MemoryKind::Unknown, dst = MemoryKind::Unknown;
};
CopyName copyFromName(std::string_view name);

} // namespace profiler::formats::json
