#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <string_view>

/// Stepscope's extensions of PyTorch's JSON. The writer writes them, and the reader understands them.
namespace profiler::formats::json {

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

} // namespace profiler::formats::json
