#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <string_view>

/// What our own JSON says beyond PyTorch's: written by writers/pytorch_json_writer.cpp, read here.
namespace profiler::formats::json {

/// SliceArgs::value of phases and stages, among an event's args.
inline constexpr std::string_view kIndexKey = "batch index";
/// What a row is, among the args of its "thread_name", where the file does not tell it anyway.
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
/// Category of waits for the device that lie on the host's thread; "cuda_sync" lies on the stream.
inline constexpr std::string_view kHostSync = "host_sync";
/// Category of arrows that neither correlation ids nor sequence numbers tell.
inline constexpr std::string_view kFlow = "flow";
/// Outermost values: our metadata, and the units of counters by their names.
inline constexpr std::string_view kMetadataPrefix = "stepscope.";
inline constexpr std::string_view kUnitsKey = "stepscopeCounterUnits";
/// Another: what was lost before the file was written.
inline constexpr std::string_view kCaptureKey = "stepscopeCapture";
/// What has no process or thread of its own gets a number from here on, which no system gives.
inline constexpr std::int64_t kMadeUpIds = 5'000'000;

} // namespace profiler::formats::json
