#include "profiler/capture/cupti/error.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <string>

namespace profiler::capture {

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
