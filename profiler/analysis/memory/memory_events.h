#pragma once

#include "profiler/analysis/memory/memory_over_time.h"

#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

/// The blocks that were alive at a peak and whose allocation the trace records as an event on a thread, as PyTorch's
/// profiler does with profile_memory=True.
namespace profiler::analysis {

/// Groups the blocks by operator, line, phase and step, as they ran on the thread of the allocation at its time: the
/// innermost operator that does more than allocate, and the innermost Python function of the user's program
/// (with_stack=True), otherwise that of PyTorch. The bytes of the peak that no recorded block covers are one group.
/// Categories are not set. Not sorted. O(slices of the threads · log blocks).
/// @param text     metadata counter::kLiveBlocks; empty: not recorded
/// @param counter  the allocator's total, whose first sample is time 0 of the blocks
/// @param peak     its peak in bytes; with another one, the blocks are those of another recording
/// @return empty if the blocks are not known
std::vector<LiveBlocks> blocksAtPeak(const Trace& trace, std::string_view text, TrackId counter, std::int64_t peak,
                                     const std::stop_token& stop);

} // namespace profiler::analysis
