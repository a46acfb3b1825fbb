#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// Kinds of slices, and the names in a trace that have a fixed meaning: phases, loader stages, copies, counters.
namespace profiler {

/// What a slice is. Where the PyTorch profiler has a category for it, the name is that category string.
enum class ActivityKind : std::uint8_t {
    Other,
    Step,              ///< one training step, on the main thread's track (depth 0)
    Phase,             ///< data wait, copy, forward, backward, optimizer, validation (names: namespace phase)
    LoaderStage,       ///< read, decode, augment, collate, pin on a loader worker's track
    LoaderWait,        ///< a loader worker waiting for a free slot in the ring or for work, or parked
    CpuOp,             ///< "cpu_op": a LibTorch operator
    UserAnnotation,    ///< "user_annotation": a named range of the user's program
    CudaRuntime,       ///< "cuda_runtime"
    CudaDriver,        ///< "cuda_driver"
    Kernel,            ///< "kernel"
    GpuMemcpy,         ///< "gpu_memcpy"
    GpuMemset,         ///< "gpu_memset"
    GpuUserAnnotation, ///< "gpu_user_annotation"
    Sync,              ///< "cuda_sync": a CPU thread waiting for the GPU
    Overhead,          ///< "overhead": caused by the profiler or the driver (lazy loading, buffer flush)
    Nvtx,              ///< an NVTX range
};
inline constexpr int kActivityKinds = static_cast<int>(ActivityKind::Nvtx) + 1;

/// The PyTorch profiler's category string, or our own if it has none ("step", "phase", "loader_stage", "loader_wait",
/// "nvtx").
std::string_view activityName(ActivityKind kind);
std::optional<ActivityKind> activityFromName(std::string_view name);
/// True for work that runs on the GPU: kernels, copies, memsets.
constexpr bool isDeviceWork(ActivityKind kind)
{
    return kind == ActivityKind::Kernel || kind == ActivityKind::GpuMemcpy || kind == ActivityKind::GpuMemset;
}

/// Names of the phases of a step. Slices of kind Phase and NVTX ranges use them.
namespace phase {
inline constexpr std::string_view kDataWait = "data wait";
inline constexpr std::string_view kCopy = "copy";
inline constexpr std::string_view kZeroGrad = "zero grad";
inline constexpr std::string_view kForward = "forward";
inline constexpr std::string_view kBackward = "backward";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kMetrics = "metrics";       ///< reading loss and accuracy back to the CPU (`.item()`)
inline constexpr std::string_view kLog = "log";               ///< writing a line of the run's log during the step
inline constexpr std::string_view kCheckpoint = "checkpoint"; ///< saving weights and optimizer state to a file
inline constexpr std::string_view kValidation = "validation";
inline constexpr std::string_view kWorkerStart = "start workers"; ///< starting the loader workers
} // namespace phase

/// Names of a loader worker's stages, used by slices of kind LoaderStage.
namespace stage {
inline constexpr std::string_view kRead = "read";
inline constexpr std::string_view kDecode = "decode";
inline constexpr std::string_view kAugment = "augment";
inline constexpr std::string_view kCollate = "collate";
inline constexpr std::string_view kPin = "pin";
} // namespace stage

enum class CopyKind : std::uint8_t { Unknown, HtoD, DtoH, DtoD, PtoP, HtoH };
enum class MemoryKind : std::uint8_t { Unknown, Pageable, Pinned, Device, Array, Managed };
std::string_view copyKindName(CopyKind kind);     ///< "HtoD"…
std::string_view memoryKindName(MemoryKind kind); ///< "pageable"…

/// Suffixes in counter names that say what the values mean, and what metadata adds to counters.
namespace counter {
/// Suffix of a counter that started at 0 when the recording began, so that earlier values are not included. PyTorch
/// before 1.10 records only changes of memory.
inline constexpr std::string_view kSinceBegin = " since the recording began";
/// Metadata key "memory.live.gpu0" (or "cpu"): the blocks that an importer found alive at the peak of the counter "GPU
/// 0 memory allocated", from its recorded allocations. The first line is the peak in bytes. Each other line is a block:
/// time of its allocation in ns since the first sample of the counter, process, thread and bytes, separated by tabs.
inline constexpr std::string_view kLiveBlocks = "memory.live.";
} // namespace counter

} // namespace profiler
