// Which blocks of memory were alive at the peak of an allocator's total, found from the memory events of PyTorch's
// profiler (profile_memory=True).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace profiler::formats::json {

/// A memory event that names its block and the allocator's total.
struct Allocation {
    static constexpr std::int32_t kHost = -1;

    std::int64_t time = 0; ///< ns
    std::uint64_t address = 0;
    std::int64_t bytes = 0;  ///< negative: freed
    std::int64_t total = 0;  ///< allocated after the event
    std::uint32_t rowId = 0; ///< of its thread
    std::int32_t device = kHost;
};

/// Process and thread id of a row, as its track has them.
using ThreadIds = std::pair<std::int64_t, std::int64_t>;

/// The blocks alive at the first peak of the total, as text for the metadata `counter::kLiveBlocks`.
/// @param events   of one allocator, in the order of the file; sorted by time afterwards
/// @param threads  by row id
std::string liveBlocksAtPeak(std::vector<Allocation>& events, const std::vector<ThreadIds>& threads);

} // namespace profiler::formats::json
