#include "profiler/capture/cupti_error.h"

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

constexpr std::string_view kRest = "the rest of the trace is complete; only the GPU's own work is missing";

constexpr Meaning kMeanings[] = {
    {CUPTI_ERROR_OUT_OF_MEMORY, Error::Code::Unavailable,
     message<"cupti.no_memory", "cannot {doing}: there is no memory left for GPU tracing">,
     "use a smaller batch, or record fewer steps"},
    {CUPTI_ERROR_NOT_COMPATIBLE, Error::Code::Unavailable,
     message<"cupti.not_compatible", "cannot {doing}: GPU tracing does not fit the state that CUDA is in">,
     "start the recording before the first CUDA call"},
    {CUPTI_ERROR_NOT_INITIALIZED, Error::Code::Unavailable,
     message<"cupti.not_initialized",
             "cannot {doing}: CUPTI could not initialise: there is no NVIDIA driver, or it is too old">,
     "install a driver of version 580 or later"},
    {CUPTI_ERROR_INVALID_KIND, Error::Code::Unsupported,
     message<"cupti.invalid_kind", "cannot {doing}: this CUPTI does not know the kind of record">, kRest},
    {CUPTI_ERROR_DISABLED, Error::Code::Unavailable,
     message<"cupti.disabled", "cannot {doing}: CUPTI is switched off because another profiler is at work">,
     "end the other profiler, then record again"},
    {CUPTI_ERROR_HARDWARE_BUSY, Error::Code::Unavailable,
     message<"cupti.hardware_busy", "cannot {doing}: another program uses the GPU's profiling hardware">,
     "end the other profiler, then record again"},
    {CUPTI_ERROR_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.not_supported", "cannot {doing}: this GPU or driver does not support it">, kRest},
    {CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.dynamic_parallelism", "cannot {doing}: kernels that launch kernels cannot be traced on this GPU">,
     kRest},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.virtual_gpu", "cannot {doing}: the GPU is a virtual one, which CUPTI cannot trace">,
     "use a GPU that is passed through whole, or a host without vGPU"},
    {CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE, Error::Code::Unsupported,
     message<"cupti.compiler", "cannot {doing}: the CUDA code was built by a compiler that this CUPTI does not know">,
     "use the LibTorch that packaging/libtorch fetches"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, Error::Code::Permission,
     message<"cupti.privileges", "cannot {doing}: the driver keeps profiling for administrators">,
     "see https://developer.nvidia.com/CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED, Error::Code::Unavailable,
     message<"cupti.old_profiler", "cannot {doing}: an older profiling interface is in use in this process">,
     "remove the other profiler from the program"},
    {CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.legacy_profiler",
             "cannot {doing}: the GPU is too new for the profiling interface that was asked for">,
     kRest},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, Error::Code::Unavailable,
     message<"cupti.other_tool", "cannot {doing}: another tool traces this process already{tool}">,
     "run without Nsight Systems, Nsight Compute, cuda-gdb, compute-sanitizer or the PyTorch profiler, or record with "
     "those alone"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, Error::Code::Permission,
     message<"cupti.virtual_gpu_privileges",
             "cannot {doing}: the hypervisor does not allow tracing of the virtual GPU">,
     "ask its administrator to allow profiling for this machine"},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.confidential", "cannot {doing}: the GPU is in confidential computing mode, which forbids tracing">,
     "switch the mode off, or use another GPU"},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.mining", "cannot {doing}: the GPU is a mining processor (CMP), which cannot be traced">,
     "use another GPU"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.mig", "cannot {doing}: the GPU is split (MIG), and this slice cannot be traced">,
     "use a whole GPU, or ask the administrator to switch MIG off"},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.sli", "cannot {doing}: GPUs that are linked by SLI cannot be traced">, "switch SLI off"},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, Error::Code::Unsupported,
     message<"cupti.wsl", "cannot {doing}: this GPU cannot be traced under the Windows Subsystem for Linux">,
     "record on Linux itself"},
    {CUPTI_ERROR_INVALID_CHIP_NAME, Error::Code::Unsupported,
     message<"cupti.chip", "cannot {doing}: this CUPTI does not know the GPU's chip">,
     "use a LibTorch with a newer CUDA"},
    {CUPTI_ERROR_UNKNOWN, Error::Code::Unavailable,
     message<"cupti.no_reason",
             "cannot {doing}: CUPTI gave no reason; most often there is no NVIDIA driver, or no GPU">,
     "check with nvidia-smi that a driver of version 580 or later sees a GPU"},
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
        text = "a status that is not documented";
    return makeError<"cupti.other", "cannot {doing}: {why}">(Error::Code::Unavailable, where, std::string(kRest),
                                                             {{"doing", doing}, {"why", text}});
}

} // namespace profiler::capture
