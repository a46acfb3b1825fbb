// An event of the traceEvents array, and what its words mean: the categories that PyTorch's profiler uses, and our
// extensions of its format.
#pragma once

#include "profiler/model/activity.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace profiler::formats::json {

/// A process, thread or flow as an event names it: a number (possibly in quotes) or a text.
struct Ident {
    std::int64_t number = 0;
    std::string_view text; ///< raw JSON text without quotes; null data if it is a number
};

/// The content of an event of the traceEvents array. A field is valid only if its bit of `present` is set. Texts point
/// into the scanner's window and are valid until the next event.
struct Event {
    enum Field : std::uint64_t {
        kPhase = 1U << 0,
        kCategory = 1U << 1,
        kName = 1U << 2,
        kPid = 1U << 3,
        kTid = 1U << 4,
        kTime = 1U << 5,
        kDuration = 1U << 6,
        kArgs = 1U << 7,
        kId = 1U << 8,
        kCorrelation = 1U << 9,
        kExternal = 1U << 10,
        kSequence = 1U << 11,
        kForwardThread = 1U << 12,
        kBytes = 1U << 13,
        kStream = 1U << 14,
        kDevice = 1U << 15,
        kShapes = 1U << 16,
        kTypes = 1U << 17,
        kAllocated = 1U << 18,
        kReserved = 1U << 19,
        kDeviceType = 1U << 20,
        kDeviceIndex = 1U << 21,
        kScope = 1U << 22,
        kIndex = 1U << 23,
        kBind = 1U << 24,
        kFlowIn = 1U << 25,
        kFlowOut = 1U << 26,
        kLocalId = 1U << 27,   ///< the id is local to the process
        kEnclosing = 1U << 28, ///< a flow end that binds to the enclosing slice ("bp": "e")
        kGrid = 1U << 29,
        kBlock = 1U << 30,
        kRegisters = 1U << 31,
        kSharedMemory = std::uint64_t{1} << 32,
        kDynamicShared = std::uint64_t{1} << 33,
        kLocalMemory = std::uint64_t{1} << 34,
    };
    /// Defects that do not prevent an event from being read; one bit each.
    enum Oddity : std::uint32_t {
        kNotANumber = 1U << 0,  ///< NaN or Infinity, which are not valid JSON
        kControlText = 1U << 1, ///< an unescaped control character in a text
        kBadEscape = 1U << 2,   ///< a backslash before a character that needs none
        kBadUtf8 = 1U << 3,
        kBadTime = 1U << 4,   ///< a time that is not a number
        kHugeTime = 1U << 5,  ///< a time beyond ±73 years
        kBadNumber = 1U << 6, ///< not a 64-bit integer although one is expected
        kNoComma = 1U << 7,   ///< no comma between this event and the previous one
    };

    std::uint64_t present = 0;
    std::uint32_t odd = 0;
    const char* begin = nullptr; ///< its '{'
    char phase = 0;
    std::uint8_t category = 0;                 ///< index of a known category, see kCategories
    bool nameOdd = false;                      ///< the name contains escapes or non-ASCII bytes
    std::int64_t time = 0, duration = 0;       ///< ns
    std::string_view name, categoryText, args; ///< raw; args with its braces
    Ident pid, tid, id, bind, scope;           ///< scope: of the id; bind: the flow that passes through the slice
    std::int64_t correlation = 0, external = 0, sequence = 0, forwardThread = 0, bytes = 0, stream = 0, device = 0;
    std::int64_t allocated = 0, reserved = 0, deviceType = 0, deviceIndex = 0, index = 0;
    std::uint32_t shapes = 0, types = 0; ///< StringIds
    std::array<std::uint32_t, 3> grid{}, block{};
    std::int64_t registers = 0, sharedMemory = 0, dynamicShared = 0, localMemory = 0;

    /// Resets the event. Fields that are guarded only by their bit of `present` keep their values: most fields of an
    /// event are unused, and zeroing all of them takes as long as reading an event.
    void clear()
    {
        present = 0;
        odd = 0;
        begin = nullptr;
        phase = 0;
        category = 0;
        nameOdd = false;
        time = duration = 0;
        categoryText = {};
        pid = tid = id = bind = {};
        deviceType = deviceIndex = 0;
    }
    [[nodiscard]] bool has(std::uint64_t fields) const { return (present & fields) == fields; }
};

// Stepscope's extensions of PyTorch's JSON. The writer writes them, and the reader understands them.

/// SliceArgs::value of phases and stages, in an event's args.
inline constexpr std::string_view kIndexKey = "batch index";
/// LaunchConfig::dynamicSharedMemory and localMemory of kernels, in an event's args.
inline constexpr std::string_view kDynamicSharedKey = "dynamic shared memory";
inline constexpr std::string_view kLocalMemoryKey = "local memory per thread";
/// The kind of a row, in the args of its "thread_name". Written only if the file does not imply it.
inline constexpr std::string_view kRowKey = "row";
constexpr std::string_view ownRowName(TrackKind kind)
{
    switch (kind) {
    case TrackKind::MainThread:
        return "main thread";
    case TrackKind::LoaderWorker:
        return "loader worker";
    case TrackKind::NvtxDomain:
        return "nvtx domain";
    default:
        return {};
    }
}
/// Category of waits for the device on the host thread. "cuda_sync" events are on the stream.
inline constexpr std::string_view kHostSync = "host_sync";
/// Category of arrows that follow from neither correlation ids nor sequence numbers.
inline constexpr std::string_view kFlow = "flow";
/// Top-level values: our metadata, and the units of counters by counter name.
inline constexpr std::string_view kMetadataPrefix = "stepscope.";
inline constexpr std::string_view kUnitsKey = "stepscopeCounterUnits";
/// Top-level value: what was lost before the file was written.
inline constexpr std::string_view kCaptureKey = "stepscopeCapture";
/// MultiprocessorLimits::blocks, in an entry of "deviceProperties".
inline constexpr std::string_view kBlocksPerSmKey = "maxBlocksPerMultiprocessor";
/// Rows without a process or thread id get numbers from here on, which no operating system assigns.
inline constexpr std::int64_t kMadeUpIds = 5'000'000;

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
