#pragma once

#include "profiler/io/formats/format.h"

namespace profiler::formats::writers {

/// Writes a trace as PyTorch's profiler does (Kineto's Chrome JSON): what TensorBoard, HTA, Perfetto and Chrome read.
/// Compressed where the name ends in .gz. Times are exact. Our step marks become ProfilerStep#N; other kinds that
/// PyTorch has no word for keep ours as their category. Memory is bounded but for arrows, of which the ids are held.
Result<void> writePytorchJson(const Trace& trace, const std::filesystem::path& path, const WriteOptions& options);

} // namespace profiler::formats::writers
