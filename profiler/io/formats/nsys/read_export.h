#pragma once

#include "profiler/io/formats/format.h"

namespace profiler::formats::nsys {

/// Reads a SQLite export of Nsight Systems, row by row. Times are the file's: ns since its session began.
/// A damaged or cut file gives what could be read, with a note for each table; an Error where nothing could.
Result<std::shared_ptr<const Trace>> readExport(const std::filesystem::path& path, const ReadOptions& options);

} // namespace profiler::formats::nsys
