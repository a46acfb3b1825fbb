#include "app/document/slice_names.h"

#include "profiler/model/track_slices.h"

#include <algorithm>

namespace app {

std::vector<SliceName> sliceNames(const profiler::Trace& trace, std::size_t most, const std::stop_token& stop)
{
    std::vector<std::uint64_t> counts(trace.stringCount());
    for (const profiler::Track& track : trace.tracks())
        for (const profiler::BlockRef& ref : trace.slicesOf(track.id).blocks) {
            if (stop.stop_requested())
                return {};
            const profiler::BlockPin block = ref.pin();
            for (std::uint32_t i = 0; block && i < block->size(); ++i)
                if (const std::uint32_t name = block->columns.name(i); name < counts.size())
                    ++counts[name];
        }
    std::vector<SliceName> names;
    for (std::uint32_t id = 0; id < counts.size(); ++id)
        if (counts[id] > 0)
            names.push_back({profiler::StringId{id}, counts[id]});
    const auto kept = names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size()));
    std::partial_sort(names.begin(), kept, names.end(), [](const SliceName& a, const SliceName& b) {
        return a.slices != b.slices ? a.slices > b.slices : a.name.value < b.name.value;
    });
    names.erase(kept, names.end());
    return names;
}

} // namespace app
