#pragma once

#include "profiler/formats/format.h"

namespace profiler::formats::writers {

/// Writes a trace as Perfetto protobuf packets: processes, threads, devices and streams as tracks; slices; arrows as
/// flows; counters. Perfetto cannot nest slices that overlap, so these go to another track of the same name. Times are
/// shifted so that none is negative.
Result<void> writePerfetto(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options);

} // namespace profiler::formats::writers
