#include "profiler/model/name_search.h"

#include "profiler/model/name_matcher.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace profiler {
namespace {

using Key = std::tuple<std::int64_t, std::uint32_t, std::int64_t, std::uint32_t>;

Key keyOf(const Slice& slice)
{
    return {toNs(slice.begin), slice.id.track.value, -slice.duration.count(), slice.id.ordinal};
}

constexpr TimeRange kAlways{traceTime(std::numeric_limits<std::int64_t>::min()),
                            traceTime(std::numeric_limits<std::int64_t>::max())};

template <class Visit>
void forEachMatch(const NameSearch& search, std::span<const TrackId> tracks, Visit&& visit)
{
    for (const TrackId track : tracks) {
        search.trace()->forEach(track, kAlways, [&](const Slice& slice) {
            if (search.matches(slice.name))
                visit(slice);
            return true;
        });
    }
}

std::optional<Slice> nextAfter(const NameSearch& search, std::span<const TrackId> tracks, const Key& after)
{
    std::optional<Slice> best;
    forEachMatch(search, tracks, [&](const Slice& slice) {
        if (keyOf(slice) > after && (!best || keyOf(slice) < keyOf(*best)))
            best = slice;
    });
    return best;
}

std::optional<Slice> lastBefore(const NameSearch& search, std::span<const TrackId> tracks, const Key& before)
{
    std::optional<Slice> best;
    forEachMatch(search, tracks, [&](const Slice& slice) {
        if (keyOf(slice) < before && (!best || keyOf(slice) > keyOf(*best)))
            best = slice;
    });
    return best;
}

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

} // namespace

Result<NameSearch> NameSearch::make(std::shared_ptr<const Trace> trace, const NamePattern& pattern)
{
    NameSearch search;
    search.m_trace = std::move(trace);
    search.m_matches.resize(search.m_trace->stringCount());
    if (pattern.text.empty())
        return search;
    const auto matcher = NameMatcher::make(pattern);
    if (!matcher)
        return tl::unexpected(matcher.error());
    for (std::uint32_t i = 0; i < search.m_matches.size(); ++i) {
        const auto matched = matcher->matches(search.m_trace->string(StringId{i}));
        search.m_matches[i] = matched.value_or(false) ? 1 : 0;
        search.m_names += search.m_matches[i];
        search.m_undecided += matched ? 0 : 1;
    }
    return search;
}

std::optional<Slice> NameSearch::next(std::span<const TrackId> tracks, TraceTime from) const
{
    return nextAfter(*this, tracks, {toNs(from), 0, kLeast, 0});
}

std::optional<Slice> NameSearch::next(std::span<const TrackId> tracks, const Slice& after) const
{
    return nextAfter(*this, tracks, keyOf(after));
}

std::optional<Slice> NameSearch::previous(std::span<const TrackId> tracks, TraceTime before) const
{
    return lastBefore(*this, tracks, {toNs(before), 0, kLeast, 0});
}

std::optional<Slice> NameSearch::previous(std::span<const TrackId> tracks, const Slice& before) const
{
    return lastBefore(*this, tracks, keyOf(before));
}

std::uint64_t NameSearch::count(std::span<const TrackId> tracks) const
{
    std::uint64_t found = 0;
    forEachMatch(*this, tracks, [&](const Slice&) { ++found; });
    return found;
}

std::uint64_t NameSearch::rank(std::span<const TrackId> tracks, const Slice& slice) const
{
    std::uint64_t found = 0;
    forEachMatch(*this, tracks, [&](const Slice& other) { found += keyOf(other) < keyOf(slice) ? 1 : 0; });
    return found;
}

void NameSearch::marks(std::span<const TrackId> tracks, TimeRange window, std::span<std::uint32_t> buckets) const
{
    std::fill(buckets.begin(), buckets.end(), 0U);
    if (buckets.empty() || window.empty())
        return;
    const double width = static_cast<double>(window.duration().count()) / static_cast<double>(buckets.size());
    forEachMatch(*this, tracks, [&](const Slice& slice) {
        if (!window.contains(slice.begin))
            return;
        const auto bucket = static_cast<std::size_t>(static_cast<double>((slice.begin - window.begin).count()) / width);
        ++buckets[std::min(bucket, buckets.size() - 1)];
    });
}

} // namespace profiler
