#pragma once

#include "profiler/formats/format.h"

namespace profiler::formats::json {

/// Opens a trace of PyTorch's profiler or of Chrome: an object with a traceEvents array, or the array alone, even if it
/// is not closed. The file may be plain, .gz or .zst.
Result<std::shared_ptr<const Trace>> readJson(const std::filesystem::path& path, const ReadOptions& options);

} // namespace profiler::formats::json
