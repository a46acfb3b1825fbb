#pragma once

#include "profiler/io/formats/format.h"

namespace profiler::formats::json {

/// Opens a trace of PyTorch's profiler or of Chrome: an object with a traceEvents array, or that array alone, also one
/// that nobody closed; plain, .gz or .zst.
Result<std::shared_ptr<const Trace>> readJson(const std::filesystem::path& path, const ReadOptions& options);

} // namespace profiler::formats::json
