#include "profiler/capture/cupti_kinds.h"

namespace profiler::capture {

std::span<const CuptiKind> cuptiKinds()
{
    static constexpr CuptiKind kKinds[] = {
        {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CuptiLevel::Always, "kernels", true},
        {CUPTI_ACTIVITY_KIND_MEMCPY, CuptiLevel::Always, "copies"},
        {CUPTI_ACTIVITY_KIND_MEMCPY2, CuptiLevel::Always, "copies between GPUs"},
        {CUPTI_ACTIVITY_KIND_MEMSET, CuptiLevel::Always, "memsets"},
        {CUPTI_ACTIVITY_KIND_DEVICE, CuptiLevel::Always, "the GPUs' names"},
        {CUPTI_ACTIVITY_KIND_RUNTIME, CuptiLevel::Standard, "runtime calls"},
        {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CuptiLevel::Standard, "waits for the GPU"},
        {CUPTI_ACTIVITY_KIND_CUDA_EVENT, CuptiLevel::Standard, "CUDA events"},
        {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CuptiLevel::Standard, "the program's own numbers of its calls"},
        {CUPTI_ACTIVITY_KIND_OVERHEAD, CuptiLevel::Standard, "overheads of driver and profiler"},
        {CUPTI_ACTIVITY_KIND_DRIVER, CuptiLevel::Full, "driver calls"},
        {CUPTI_ACTIVITY_KIND_MEMORY2, CuptiLevel::Full, "device memory"},
        {CUPTI_ACTIVITY_KIND_MEMORY_POOL, CuptiLevel::Full, "memory pools"},
        {CUPTI_ACTIVITY_KIND_JIT, CuptiLevel::Full, "compilation at run time"},
    };
    return kKinds;
}

std::span<const CUpti_CallbackId> noisyRuntimeCalls()
{
    static constexpr CUpti_CallbackId kCalls[] = {
        CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetDeviceCount_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
        CUPTI_RUNTIME_TRACE_CBID_cudaFuncGetAttributes_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaPointerGetAttributes_v4000,
        CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030,
        CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v12030,
        CUPTI_RUNTIME_TRACE_CBID_cudaThreadExchangeStreamCaptureMode_v10010,
        CUPTI_RUNTIME_TRACE_CBID_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000,
    };
    return kCalls;
}

std::span<const CUpti_CallbackId> workingDriverCalls()
{
    static constexpr CUpti_CallbackId kCalls[] = {
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
        CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
        CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
        CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
        CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags,
        CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
        CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2_ptds,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async_ptsz,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async_ptsz,
    };
    return kCalls;
}

} // namespace profiler::capture
