#pragma once

#include "profiler/io/formats/format.h"

namespace profiler::formats::writers {

/// Writes a trace as Perfetto's own protobuf packets: processes, threads, devices and streams as tracks, slices, arrows
/// as flows, counters. Slices that overlap others of their track, which Perfetto cannot nest, lie on a track of the
/// same name beside it. Times are moved so that none is negative.
Result<void> writePerfetto(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options);

} // namespace profiler::formats::writers
