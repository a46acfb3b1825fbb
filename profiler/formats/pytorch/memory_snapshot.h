#pragma once

#include "profiler/formats/format.h"

namespace profiler::formats::memory {

/// Reads a memory snapshot of PyTorch, the pickle that torch.cuda.memory._dump_snapshot() writes. Each device becomes a
/// track with an instant slice for each event of its allocator (bytes, stream, the address as value; the stack is in
/// Trace::details()) and the counters of allocated and reserved memory, named as those of PyTorch's JSON. The
/// allocations at the peak, by line, become the metadata that analysis::memoryMoments() reads, and so do out-of-memory
/// events. The segments become metadata ("memory.segments.gpu0") that analysis::memoryOverTime() reads.
/// Source: torch/cuda/_memory_viz.py and torch/cuda/memory.py of PyTorch 2.11.
/// @return snapshot.none for a pickle without the history and the segments of an allocator; the errors of
/// pickle::read()
Result<std::shared_ptr<const Trace>> readSnapshot(const std::filesystem::path& path, const ReadOptions& options);

} // namespace profiler::formats::memory
