#include "profiler/capture/cupti/vocabulary.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <string>

namespace profiler::capture {

// Each kind has a reader. Kernels, copies, memsets and graph launches are the device tracks, which all analyses of
// profiler/analysis/device read. Devices are joined with NVML's counters by UUID, and occupancy needs their limits.
// Runtime and driver calls are the launches (launch queue, replay, idle causes) and the threads of waits. Waits
// and CUDA events are the edges of the replay between streams and to the host. Overheads are what the driver and the
// profiler add to the program. Memory, pools and compilations are counters and slices of the timeline.
// NVTX ranges come from our own NVTX handlers instead of CUPTI's markers.
std::span<const CuptiKind> cuptiKinds()
{
    static constexpr CuptiKind kKinds[] = {
        {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CaptureLevel::Always, "kernels", true},
        // One record for each launch of a CUDA graph. Without this kind, each kernel of the graph has a record:
        // hundreds per launch, which only the levels recorded in short windows can afford.
        {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CaptureLevel::Always, "launches of CUDA graphs", false, CaptureLevel::Always},
        {CUPTI_ACTIVITY_KIND_MEMCPY, CaptureLevel::Always, "copies"},
        {CUPTI_ACTIVITY_KIND_MEMCPY2, CaptureLevel::Always, "copies between GPUs"},
        {CUPTI_ACTIVITY_KIND_MEMSET, CaptureLevel::Always, "memsets"},
        {CUPTI_ACTIVITY_KIND_DEVICE, CaptureLevel::Always, "GPU names"},
        {CUPTI_ACTIVITY_KIND_RUNTIME, CaptureLevel::Standard, "runtime calls"},
        {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CaptureLevel::Standard, "waits for the GPU"},
        {CUPTI_ACTIVITY_KIND_CUDA_EVENT, CaptureLevel::Standard, "CUDA events"},
        {CUPTI_ACTIVITY_KIND_OVERHEAD, CaptureLevel::Standard, "driver and profiler overheads"},
        {CUPTI_ACTIVITY_KIND_DRIVER, CaptureLevel::Full, "driver calls"},
        {CUPTI_ACTIVITY_KIND_MEMORY2, CaptureLevel::Full, "device memory"},
        {CUPTI_ACTIVITY_KIND_MEMORY_POOL, CaptureLevel::Full, "memory pools"},
        {CUPTI_ACTIVITY_KIND_JIT, CaptureLevel::Full, "JIT compilation"},
    };
    return kKinds;
}

std::span<const CuptiCall> noisyRuntimeCalls()
{
    static constexpr CuptiCall kCalls[] = {
        {CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020, "cudaGetDevice_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020, "cudaSetDevice_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceCount_v3020, "cudaGetDeviceCount_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, "cudaGetLastError_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, "cudaPeekAtLastError_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000, "cudaDeviceGetAttribute_v5000"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaFuncGetAttributes_v3020, "cudaFuncGetAttributes_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaPointerGetAttributes_v4000, "cudaPointerGetAttributes_v4000"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020, "cudaEventCreate_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020, "cudaEventCreateWithFlags_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020, "cudaEventDestroy_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020, "cudaEventQuery_v3020"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000, "cudaStreamIsCapturing_v10000"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030, "cudaStreamGetCaptureInfo_v2_v11030"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v12030, "cudaStreamGetCaptureInfo_v12030"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaThreadExchangeStreamCaptureMode_v10010,
         "cudaThreadExchangeStreamCaptureMode_v10010"},
        {CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000,
         "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000"},
    };
    return kCalls;
}

std::span<const CuptiCall> workingDriverCalls()
{
    static constexpr CuptiCall kCalls[] = {
        {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
        {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, "cuLaunchKernel_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx"},
        {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, "cuLaunchKernelEx_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel"},
        {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch"},
        {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, "cuGraphLaunch_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "cuStreamSynchronize"},
        {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz, "cuStreamSynchronize_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, "cuEventSynchronize"},
        {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize"},
        {CUPTI_DRIVER_TRACE_CBID_cuEventRecord, "cuEventRecord"},
        {CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, "cuEventRecord_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, "cuEventRecordWithFlags"},
        {CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz, "cuEventRecordWithFlags_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, "cuStreamWaitEvent"},
        {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz, "cuStreamWaitEvent_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy, "cuMemcpy"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds, "cuMemcpy_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, "cuMemcpyHtoD_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds, "cuMemcpyHtoD_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, "cuMemcpyDtoH_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds, "cuMemcpyDtoH_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, "cuMemcpyDtoD_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds, "cuMemcpyDtoD_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2, "cuMemcpy2D_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds, "cuMemcpy2D_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2, "cuMemcpy2DUnaligned_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds, "cuMemcpy2DUnaligned_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, "cuMemcpy3D_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds, "cuMemcpy3D_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer, "cuMemcpyPeer"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer_ptds, "cuMemcpyPeer_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync, "cuMemcpyBatchAsync"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_ptsz, "cuMemcpyBatchAsync_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, "cuMemcpyAsync"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, "cuMemcpyAsync_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, "cuMemcpyHtoDAsync_v2_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, "cuMemcpyDtoHAsync_v2_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz, "cuMemcpyDtoDAsync_v2_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, "cuMemcpy2DAsync_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz, "cuMemcpy2DAsync_v2_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2, "cuMemcpy3DAsync_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz, "cuMemcpy3DAsync_v2_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, "cuMemcpyPeerAsync"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz, "cuMemcpyPeerAsync_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, "cuMemsetD8_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds, "cuMemsetD8_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2, "cuMemsetD16_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2_ptds, "cuMemsetD16_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2, "cuMemsetD32_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds, "cuMemsetD32_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2, "cuMemsetD2D8_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2_ptds, "cuMemsetD2D8_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2, "cuMemsetD2D16_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2_ptds, "cuMemsetD2D16_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2, "cuMemsetD2D32_v2"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2_ptds, "cuMemsetD2D32_v2_ptds"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, "cuMemsetD8Async"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, "cuMemsetD8Async_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async, "cuMemsetD16Async"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async_ptsz, "cuMemsetD16Async_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, "cuMemsetD32Async"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz, "cuMemsetD32Async_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async, "cuMemsetD2D8Async"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async_ptsz, "cuMemsetD2D8Async_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async, "cuMemsetD2D16Async"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async_ptsz, "cuMemsetD2D16Async_ptsz"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async, "cuMemsetD2D32Async"},
        {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async_ptsz, "cuMemsetD2D32Async_ptsz"},
    };
    return kCalls;
}

bool isKnown(const CuptiApi& api, CUpti_CallbackDomain domain, const CuptiCall& call)
{
    const char* name = nullptr;
    return api.getCallbackName(domain, call.id, &name) == CUPTI_SUCCESS && name && name == call.name;
}

CopyKind copyKind(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return CopyKind::HtoD;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return CopyKind::DtoH;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
        return CopyKind::DtoD;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return CopyKind::HtoH;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return CopyKind::PtoP;
    default:
        return CopyKind::Unknown;
    }
}

MemoryKind memoryKind(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
        return MemoryKind::Pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
        return MemoryKind::Pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
        return MemoryKind::Device;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
        return MemoryKind::Array;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
        return MemoryKind::Managed;
    default:
        return MemoryKind::Unknown;
    }
}

std::string_view overheadName(CUpti_ActivityOverheadKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
        return "driver compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
        return "profiler buffer flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
        return "profiler instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
        return "profiler resources";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
        return "module loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
        return "lazy function loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
        return "command buffer full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
        return "profiler buffer request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
        return "managed memory tracing";
    default:
        return "overhead";
    }
}

std::string_view syncName(CUpti_ActivitySynchronizationType type)
{
    switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
        return "Event Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
        return "Stream Sync";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
        return "Context Sync";
    default:
        return "Sync";
    }
}

std::string uuidText(const CUuuid& uuid)
{
    std::string text = "GPU-";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        for (const int shift : {4, 0})
            text += "0123456789abcdef"[static_cast<unsigned char>(uuid.bytes[i]) >> shift & 15];
    }
    return text;
}

std::string_view memoryWord(MemoryKind kind)
{
    switch (kind) {
    case MemoryKind::Pageable:
        return "Pageable";
    case MemoryKind::Pinned:
        return "Pinned";
    case MemoryKind::Device:
        return "Device";
    case MemoryKind::Array:
        return "Array";
    case MemoryKind::Managed:
        return "Managed";
    case MemoryKind::Unknown:
        break;
    }
    return "Unknown";
}

std::string_view callWithoutVersion(std::string_view name)
{
    // The version has at least four digits; "_v2" belongs to the name.
    const std::size_t at = name.rfind("_v");
    if (at != std::string_view::npos && name.size() - at >= 6 &&
        name.find_first_not_of("0123456789", at + 2) == std::string_view::npos)
        name = name.substr(0, at);
    for (const std::string_view perThread : {"_ptsz", "_ptds"})
        if (name.ends_with(perThread))
            name.remove_suffix(perThread.size());
    return name;
}

namespace {

struct Meaning {
    CUptiResult status;
    Error::Code code;
    Message (*what)(std::initializer_list<MessageParameter>);
    std::string_view hint;
};

constexpr std::string_view kRest = "the trace is complete except for the missing GPU work";

constexpr Meaning kMeanings[] = {
    {CUPTI_ERROR_OUT_OF_MEMORY, Error::Code::Unavailable,
     message<"cupti.no_memory", "cannot {doing}: out of memory for GPU tracing">,
     "use a smaller batch, or record fewer steps"},
    {CUPTI_ERROR_NOT_COMPATIBLE, Error::Code::Unavailable,
     message<"cupti.not_compatible", "cannot {doing}: GPU tracing is not possible in the current state of CUDA">,
     "start the recording before the first CUDA call"},
    {CUPTI_ERROR_NOT_INITIALIZED, Error::Code::Unavailable,
     message<"cupti.not_initialized",
             "cannot {doing}: CUPTI could not initialize: the NVIDIA driver is missing or too old">,
     "install a driver of version 580 or later"},
    {CUPTI_ERROR_INVALID_KIND, Error::Code::Unsupported,
     message<"cupti.invalid_kind", "cannot {doing}: this version of CUPTI does not support such records">, kRest},
    {CUPTI_ERROR_DISABLED, Error::Code::Unavailable,
     message<"cupti.disabled", "cannot {doing}: CUPTI is disabled because another profiler is running">,
     "end the other profiler, then record again"},
    {CUPTI_ERROR_HARDWARE_BUSY, Error::Code::Unavailable,
     message<"cupti.hardware_busy", "cannot {doing}: another program uses the GPU's profiling hardware">,
     "end the other profiler, then record again"},
    {CUPTI_ERROR_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.not_supported", "cannot {doing}: not supported by this GPU or driver">, kRest},
    {CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.dynamic_parallelism", "cannot {doing}: kernels that launch kernels cannot be traced on this GPU">,
     kRest},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.virtual_gpu", "cannot {doing}: CUPTI cannot trace virtual GPUs">,
     "use a fully passed-through GPU, or a host without vGPU"},
    {CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE, Error::Code::Unsupported,
     message<"cupti.compiler",
             "cannot {doing}: this version of CUPTI does not support the compiler that built the CUDA code">,
     "use the LibTorch that packaging/libtorch fetches"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, Error::Code::Permission,
     message<"cupti.privileges", "cannot {doing}: the driver allows profiling only for administrators">,
     "see https://developer.nvidia.com/CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, Error::Code::Unavailable,
     message<"cupti.old_profiler", "cannot {doing}: an older profiling interface is in use in this process">,
     "remove the other profiler from the program"},
    {CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.legacy_profiler",
             "cannot {doing}: the GPU does not support the requested legacy profiling interface">,
     kRest},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, Error::Code::Unavailable,
     message<"cupti.other_tool", "cannot {doing}: another tool is already tracing this process{tool}">,
     "run without Nsight Systems, Nsight Compute, cuda-gdb, compute-sanitizer or the PyTorch profiler, or record with "
     "those alone"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, Error::Code::Permission,
     message<"cupti.virtual_gpu_privileges",
             "cannot {doing}: the hypervisor does not allow tracing of the virtual GPU">,
     "ask the hypervisor's administrator to allow profiling on this machine"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.confidential", "cannot {doing}: the GPU is in confidential computing mode, which forbids tracing">,
     "turn this mode off, or use another GPU"},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.mining", "cannot {doing}: the GPU is a mining processor (CMP), which cannot be traced">,
     "use another GPU"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.mig", "cannot {doing}: this MIG instance of the GPU cannot be traced">,
     "use a whole GPU, or ask the administrator to turn MIG off"},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.sli", "cannot {doing}: GPUs that are linked by SLI cannot be traced">, "turn SLI off"},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.wsl", "cannot {doing}: this GPU cannot be traced under the Windows Subsystem for Linux">,
     "record on native Linux"},
    {CUPTI_ERROR_INVALID_CHIP_NAME, Error::Code::Unsupported,
     message<"cupti.chip", "cannot {doing}: this version of CUPTI does not support the GPU">,
     "use a LibTorch with a newer CUDA"},
    {CUPTI_ERROR_UNKNOWN, Error::Code::Unavailable,
     message<"cupti.no_reason",
             "cannot {doing}: CUPTI reported no reason; most likely the NVIDIA driver or the GPU is missing">,
     "check with nvidia-smi that a driver of version 580 or later detects a GPU"},
};

} // namespace

Error cuptiError(const CuptiApi& api, CUptiResult status, std::string_view doing, std::string_view otherTool)
{
    const std::string where = "CUPTI error " + std::to_string(status);
    const auto meaning = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                      [&](const Meaning& known) { return known.status == status; });
    if (meaning != std::end(kMeanings)) {
        const std::string tool = otherTool.empty() ? "" : " (" + std::string(otherTool) + ")";
        return {meaning->code, meaning->what({{"doing", doing}, {"tool", tool}}), where, std::string(meaning->hint)};
    }
    const char* text = nullptr;
    if (api.getResultString(status, &text) != CUPTI_SUCCESS || !text)
        text = "undocumented status";
    return makeError<"cupti.other", "cannot {doing}: {why}">(Error::Code::Unavailable, where, std::string(kRest),
                                                             {{"doing", doing}, {"why", text}});
}

} // namespace profiler::capture
