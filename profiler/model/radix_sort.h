#pragma once

#include <cstdint>
#include <vector>

namespace profiler {

/// What to sort by, and what it belongs to.
struct SortKey {
    std::int64_t key = 0;
    std::uint64_t place = 0;
};

/// Sorts by key, stably, in linear time: about 15 ns a key; 1 ns where they are sorted already.
void radixSort(std::vector<SortKey>& keys);

} // namespace profiler
