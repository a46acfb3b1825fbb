#pragma once

#include "profiler/formats/format.h"

namespace profiler::formats::writers {

/// Writes a trace in the format of PyTorch's profiler (Kineto's Chrome JSON), which TensorBoard, HTA, Perfetto and
/// Chrome read. If the name ends in .gz, the file is compressed. Times are exact. Step marks become ProfilerStep#N;
/// other kinds that PyTorch lacks have our category names. Memory use is bounded, except for the ids of arrows.
Result<void> writePytorchJson(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options);

} // namespace profiler::formats::writers
