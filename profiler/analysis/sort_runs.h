#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace profiler::analysis {

/// Sorts what comes in a few sorted runs, as the slices of a track do; equals stay in their order. O(n) where it is
/// sorted already, O(n log runs) else.
template <class Entry, class Before>
void sortRuns(std::vector<Entry>& entries, Before&& before)
{
    std::vector<std::size_t> runs = {0}; // where they begin, and the end
    for (std::size_t i = 1; i < entries.size(); ++i)
        if (before(entries[i], entries[i - 1]))
            runs.push_back(i);
    if (runs.size() == 1)
        return;
    runs.push_back(entries.size());
    std::vector<Entry> merged(entries.size());
    while (runs.size() > 2) {
        std::vector<std::size_t> larger = {0};
        for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
            const auto at = [&](std::size_t run) {
                return entries.begin() + static_cast<std::ptrdiff_t>(runs[std::min(run, runs.size() - 1)]);
            };
            std::merge(at(i), at(i + 1), at(i + 1), at(i + 2), merged.begin() + static_cast<std::ptrdiff_t>(runs[i]),
                       before);
            larger.push_back(runs[std::min(i + 2, runs.size() - 1)]);
        }
        entries.swap(merged);
        runs = std::move(larger);
    }
}

} // namespace profiler::analysis
