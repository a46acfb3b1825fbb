#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace profiler::analysis {

/// Sorts entries that arrive in a few sorted runs, like the slices of a track; equal entries keep their order. O(n) if
/// already sorted, otherwise O(n log runs).
template <class Entry, class Before>
void sortRuns(std::vector<Entry>& entries, Before&& before)
{
    std::vector<std::size_t> runs = {0}; // the starts of the runs, and the end
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
