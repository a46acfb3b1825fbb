#include "profiler/analysis/self_times.h"

#include <algorithm>
#include <vector>

namespace profiler::analysis {

void forEachNested(std::span<const Slice> sorted, const std::function<void(const Nested&)>& visit)
{
    std::vector<const Slice*> open;
    std::vector<Nanoseconds> covered; // by children, of each open slice
    const auto close = [&] {
        const Slice* slice = open.back();
        const Nanoseconds self = std::max(slice->duration - covered.back(), Nanoseconds{0});
        open.pop_back();
        covered.pop_back();
        visit({slice, open.empty() ? nullptr : open.back(), open, self});
    };
    for (const Slice& slice : sorted) {
        while (!open.empty() && open.back()->end() <= slice.begin)
            close();
        if (!open.empty())
            covered.back() += slice.range().clippedTo(open.back()->range()).duration();
        open.push_back(&slice);
        covered.emplace_back(0);
    }
    while (!open.empty())
        close();
}

} // namespace profiler::analysis
