#include "profiler/formats/pytorch/live_blocks.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <unordered_map>

namespace profiler::formats::json {

namespace {

/// More blocks than any step has alive; they keep the metadata below a few MB. The smaller ones are left out, and count
/// as unknown.
constexpr std::size_t kMostBlocks = 50'000;

} // namespace

std::string liveBlocksAtPeak(std::vector<Allocation>& events, const std::vector<ThreadIds>& threads)
{
    std::stable_sort(events.begin(), events.end(),
                     [](const Allocation& a, const Allocation& b) { return a.time < b.time; });
    const auto peak = std::max_element(events.begin(), events.end(),
                                       [](const Allocation& a, const Allocation& b) { return a.total < b.total; });
    if (peak == events.end())
        return {};
    std::unordered_map<std::uint64_t, const Allocation*> alive;
    for (auto event = events.begin(); event <= peak; ++event)
        if (event->bytes > 0)
            alive[event->address] = &*event;
        else
            alive.erase(event->address);
    std::vector<const Allocation*> blocks;
    blocks.reserve(alive.size());
    for (const auto& [address, block] : alive)
        blocks.push_back(block);
    std::sort(blocks.begin(), blocks.end(), [](const Allocation* a, const Allocation* b) {
        return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
    });
    blocks.resize(std::min(blocks.size(), kMostBlocks));
    std::string text = fmt::format("{}\n", peak->total);
    for (const Allocation* block : blocks) {
        const ThreadIds thread = block->rowId < threads.size() ? threads[block->rowId] : ThreadIds{};
        fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\n", block->time - events.front().time, thread.first,
                       thread.second, block->bytes);
    }
    return text;
}

} // namespace profiler::formats::json
