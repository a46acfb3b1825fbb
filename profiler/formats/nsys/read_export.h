#pragma once

#include "profiler/formats/format.h"

namespace profiler::formats::nsys {

/// Reads a SQLite export of Nsight Systems row by row. Times are those of the file: ns since the session started. A
/// damaged or truncated file returns what could be read, with a note for each damaged table. Returns an Error if
/// nothing could be read.
Result<std::shared_ptr<const Trace>> readExport(const std::filesystem::path& path, const ReadOptions& options);

} // namespace profiler::formats::nsys
