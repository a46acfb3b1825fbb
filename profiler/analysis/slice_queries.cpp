#include "profiler/analysis/slice_queries.h"

#include <compare>
#include <cstdint>

namespace profiler::analysis {

namespace {

// Asking about so many names costs less than looking at all slices of a kind.
constexpr std::size_t kFewNames = 20'000;

struct Key {
    std::int64_t begin = 0, minusDuration = 0;
    std::uint32_t depth = 0, index = 0;
    auto operator<=>(const Key&) const = default;
};

} // namespace

bool anyName(const Trace& trace, const std::function<bool(std::string_view name)>& is)
{
    for (std::uint32_t id = 0; id < trace.stringCount(); ++id)
        if (is(trace.string(StringId{id})))
            return true;
    return false;
}

bool hasKind(const Trace& trace, ActivityKind kind)
{
    const auto tracks = trace.tracks();
    return std::any_of(tracks.begin(), tracks.end(), [&](const Track& track) {
        const auto& blocks = trace.slicesOf(track.id).blocks;
        return std::any_of(blocks.begin(), blocks.end(),
                           [&](const BlockRef& block) { return block.summary().holds(kind); });
    });
}

std::vector<Slice> ofKindNamed(const Trace& trace, ActivityKind kind,
                               const std::function<bool(std::string_view name)>& named)
{
    std::vector<Slice> found;
    NameAnswers isNamed(trace, std::cref(named));
    if (const std::size_t names = trace.stringCount(); names <= kFewNames) {
        std::uint32_t id = 0;
        while (id < names && !isNamed(StringId{id}))
            ++id;
        if (id == names)
            return found;
    }
    for (const Track& track : trace.tracks())
        forEachViewOf(trace, track.id, kind, [&](const SliceView& view) {
            if (isNamed(view.nameId()))
                found.push_back(view.slice());
        });
    sortByNesting(found);
    return found;
}

std::vector<SliceBrief> kernelsOf(const Trace& trace, TrackId stream)
{
    return briefsWhere(trace, stream, [](const SliceView& slice) { return slice.kind() == ActivityKind::Kernel; });
}

void sortByNesting(std::vector<Slice>& slices)
{
    std::vector<Key> keys;
    keys.reserve(slices.size());
    for (const Slice& slice : slices)
        keys.push_back(
            {toNs(slice.begin), -slice.duration.count(), slice.depth, static_cast<std::uint32_t>(keys.size())});
    if (std::is_sorted(keys.begin(), keys.end()))
        return;
    sortRuns(keys, std::less<>());
    std::vector<Slice> sorted;
    sorted.reserve(slices.size());
    for (const Key& key : keys)
        sorted.push_back(slices[key.index]);
    slices = std::move(sorted);
}

} // namespace profiler::analysis
