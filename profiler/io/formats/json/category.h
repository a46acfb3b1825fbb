#pragma once

#include "profiler/io/formats/json/own_keys.h"
#include "profiler/model/activity.h"

#include <cstdint>
#include <string_view>

namespace profiler::formats::json {

/// Where events of a category are shown.
enum class Lane : std::uint8_t {
    Host,       ///< the thread's row
    Device,     ///< the stream's row
    Annotation, ///< beside the stream's row: ranges of the host, as their device work ran
    Wait,       ///< beside the stream's row: waits for it
};
/// What flow events of a category say.
enum class FlowUse : std::uint8_t {
    Explicit, ///< an arrow of its own
    Launch,   ///< what correlation ids say too
    Backward, ///< what sequence numbers say too
};

struct Category {
    std::string_view name;
    ActivityKind kind;
    Lane lane = Lane::Host;
    FlowUse flow = FlowUse::Explicit;
};

/// The process of device work in files of torch.autograd.profiler without Kineto: its threads are the devices.
inline constexpr std::string_view kCudaFunctions = "CUDA functions";

/// The categories that PyTorch's profiler has used, old and new. The first is for all others.
inline constexpr Category kCategories[] = {
    {"", ActivityKind::Other},
    {"cpu_op", ActivityKind::CpuOp},
    {"cuda_runtime", ActivityKind::CudaRuntime},
    {"kernel", ActivityKind::Kernel, Lane::Device},
    {"ac2g", ActivityKind::Other, Lane::Host, FlowUse::Launch},
    {"fwdbwd", ActivityKind::Other, Lane::Host, FlowUse::Backward},
    {"gpu_memcpy", ActivityKind::GpuMemcpy, Lane::Device},
    {"gpu_memset", ActivityKind::GpuMemset, Lane::Device},
    {"user_annotation", ActivityKind::UserAnnotation},
    {"gpu_user_annotation", ActivityKind::GpuUserAnnotation, Lane::Annotation},
    {"cuda_driver", ActivityKind::CudaDriver},
    {"python_function", ActivityKind::Other},
    {"cuda_sync", ActivityKind::Sync, Lane::Wait},
    {"overhead", ActivityKind::Overhead},
    {"cpu_instant_event", ActivityKind::Other},
    {"cuda_profiler_range", ActivityKind::GpuUserAnnotation, Lane::Annotation},
    {"Trace", ActivityKind::Other},
    {"Instant", ActivityKind::Other},
    {"python", ActivityKind::Other},
    {"Operator", ActivityKind::CpuOp},
    {"Runtime", ActivityKind::CudaRuntime},
    {"Driver", ActivityKind::CudaDriver},
    {"Kernel", ActivityKind::Kernel, Lane::Device},
    {"Memcpy", ActivityKind::GpuMemcpy, Lane::Device},
    {"Memset", ActivityKind::GpuMemset, Lane::Device},
    {"async", ActivityKind::Other, Lane::Host, FlowUse::Launch},
    {"async_cpu_to_gpu", ActivityKind::Other, Lane::Host, FlowUse::Launch},
    {"async_gpu", ActivityKind::Other, Lane::Host, FlowUse::Launch},
    {"cpu_to_cuda", ActivityKind::Other, Lane::Host, FlowUse::Launch},
    {"forward_backward", ActivityKind::Other, Lane::Host, FlowUse::Backward},
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
    {"mtia_ccp_events", ActivityKind::Kernel, Lane::Device},
    {"xpu_op", ActivityKind::CpuOp},
    {"hpu_op", ActivityKind::CpuOp},
    // What Stepscope writes for kinds that PyTorch has no word for.
    {"step", ActivityKind::Step},
    {"phase", ActivityKind::Phase},
    {"loader_stage", ActivityKind::LoaderStage},
    {"loader_wait", ActivityKind::LoaderWait},
    {kHostSync, ActivityKind::Sync},
    // Before Kineto the process says it, see processCategory().
    {"CPU functions", ActivityKind::CpuOp},
    {kCudaFunctions, ActivityKind::Kernel, Lane::Device},
};
inline constexpr int kCategoryCount = sizeof kCategories / sizeof *kCategories;

/// Index into kCategories; 0 for a category that it does not hold. Case does not matter. Of several, with commas
/// between them, the first that it holds.
std::uint8_t categoryIndex(std::string_view name);

/// A category of operators: older profilers mark steps by one.
inline bool isOperator(std::string_view category)
{
    return kCategories[categoryIndex(category)].kind == ActivityKind::CpuOp;
}

/// The category that an event without one has by its process, a text as torch.autograd.profiler wrote it; else 0.
inline std::uint8_t processCategory(std::string_view process)
{
    return process.ends_with(" functions") ? categoryIndex(process) : std::uint8_t{0};
}

/// A copy's kind and the memory at its ends, as its name says: "Memcpy HtoD (Pageable -> Device)", "CopyHostToDevice".
struct CopyName {
    CopyKind copy = CopyKind::Unknown;
    MemoryKind src = MemoryKind::Unknown, dst = MemoryKind::Unknown;
};
CopyName copyFromName(std::string_view name);

} // namespace profiler::formats::json
