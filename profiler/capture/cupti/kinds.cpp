#include "profiler/capture/cupti/kinds.h"

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
        {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CuptiLevel::Always, "kernels", true},
        // One record for each launch of a CUDA graph. Without this kind, each kernel of the graph has a record:
        // hundreds per launch, which only the levels recorded in short windows can afford.
        {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CuptiLevel::Always, "launches of CUDA graphs", false, CuptiLevel::Always},
        {CUPTI_ACTIVITY_KIND_MEMCPY, CuptiLevel::Always, "copies"},
        {CUPTI_ACTIVITY_KIND_MEMCPY2, CuptiLevel::Always, "copies between GPUs"},
        {CUPTI_ACTIVITY_KIND_MEMSET, CuptiLevel::Always, "memsets"},
        {CUPTI_ACTIVITY_KIND_DEVICE, CuptiLevel::Always, "GPU names"},
        {CUPTI_ACTIVITY_KIND_RUNTIME, CuptiLevel::Standard, "runtime calls"},
        {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CuptiLevel::Standard, "waits for the GPU"},
        {CUPTI_ACTIVITY_KIND_CUDA_EVENT, CuptiLevel::Standard, "CUDA events"},
        {CUPTI_ACTIVITY_KIND_OVERHEAD, CuptiLevel::Standard, "driver and profiler overheads"},
        {CUPTI_ACTIVITY_KIND_DRIVER, CuptiLevel::Full, "driver calls"},
        {CUPTI_ACTIVITY_KIND_MEMORY2, CuptiLevel::Full, "device memory"},
        {CUPTI_ACTIVITY_KIND_MEMORY_POOL, CuptiLevel::Full, "memory pools"},
        {CUPTI_ACTIVITY_KIND_JIT, CuptiLevel::Full, "JIT compilation"},
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

} // namespace profiler::capture
