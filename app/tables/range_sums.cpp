#include "app/tables/range_sums.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::TimeRange;
using profiler::Trace;

namespace {

/// The fields of a slice that are needed, clipped to the range. They are copied compactly because a range may contain
/// millions of slices.
struct Clipped {
    std::int64_t begin, duration;
    profiler::StringId name;
    std::uint32_t ordinal;
    profiler::ActivityKind kind;
    std::uint8_t depth;

    [[nodiscard]] std::int64_t end() const { return begin + duration; }
};

/// Slices of one track within the range, parents first.
std::vector<Clipped> clippedSlices(const Trace& trace, profiler::TrackId track, TimeRange range,
                                   const std::stop_token& stop)
{
    std::vector<Clipped> slices;
    trace.forEach(track, range, [&](const Slice& slice) {
        const TimeRange inside = slice.range().clippedTo(range);
        if (slice.kind != profiler::ActivityKind::Step)
            slices.push_back(
                {toNs(inside.begin), inside.duration().count(), slice.name, slice.id.ordinal, slice.kind, slice.depth});
        return !stop.stop_requested();
    });
    const auto before = [](const Clipped& a, const Clipped& b) {
        return std::tuple(a.begin, a.depth, b.duration) < std::tuple(b.begin, b.depth, a.duration);
    };
    if (!std::is_sorted(slices.begin(), slices.end(), before))
        std::sort(slices.begin(), slices.end(), before);
    return slices;
}

struct NamedSum {
    profiler::StringId name;
    RangeSums::Sum sum;
};

void add(RangeSums::Sum& sum, profiler::TrackId track, const Clipped& slice, std::int64_t self)
{
    ++sum.count;
    sum.self += Nanoseconds{self};
    if (slice.duration >= sum.longestDuration.count()) {
        sum.longestDuration = Nanoseconds{slice.duration};
        sum.longest = {track, slice.ordinal};
    }
}

std::vector<RangeSums::Sum> sorted(std::vector<RangeSums::Sum> sums)
{
    std::sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
        return std::tuple(b.self, b.count, a.name) < std::tuple(a.self, a.count, b.name);
    });
    return sums;
}

/// Self times: the duration of each slice minus the time of its direct children.
std::vector<std::int64_t> selfTimes(const std::vector<Clipped>& slices)
{
    std::vector<std::int64_t> self(slices.size());
    std::vector<std::size_t> around;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        self[i] = slices[i].duration;
        while (!around.empty() &&
               (slices[around.back()].depth >= slices[i].depth || slices[around.back()].end() <= slices[i].begin))
            around.pop_back();
        if (!around.empty())
            self[around.back()] -= std::min(slices[i].end(), slices[around.back()].end()) - slices[i].begin;
        around.push_back(i);
    }
    for (std::int64_t& time : self)
        time = std::max<std::int64_t>(time, 0);
    return self;
}

/// @param slices  by start
Nanoseconds busyTime(const std::vector<Clipped>& slices)
{
    std::int64_t busy = 0, covered = std::numeric_limits<std::int64_t>::min();
    for (const Clipped& slice : slices) {
        busy += std::max<std::int64_t>(0, slice.end() - std::max(covered, slice.begin));
        covered = std::max(covered, slice.end());
    }
    return Nanoseconds{busy};
}

} // namespace

RangeSums rangeSums(const Trace& trace, TimeRange range, const std::stop_token& stop)
{
    RangeSums sums;
    sums.range = range;
    ClassLookup classes(trace);
    std::vector<RangeSums::Sum> byClass(kSliceClasses);
    std::unordered_map<std::uint64_t, NamedSum> byName;
    for (const profiler::Track& track : trace.tracks()) {
        const std::vector<Clipped> slices = clippedSlices(trace, track.id, range, stop);
        sums.stopped = stop.stop_requested();
        if (sums.stopped)
            return sums;
        if (!slices.empty())
            sums.byTrack.push_back({track.id, static_cast<std::int64_t>(slices.size()), busyTime(slices)});
        const std::vector<std::int64_t> self = selfTimes(slices);
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const Clipped& slice = slices[i];
            const SliceClass which = classes(slice.kind, slice.name);
            add(byClass[static_cast<std::size_t>(which)], track.id, slice, self[i]);
            auto& named = byName[std::uint64_t{slice.name.value} << 8 | static_cast<std::uint64_t>(which)];
            named.name = slice.name;
            named.sum.which = which;
            add(named.sum, track.id, slice, self[i]);
            ++sums.count;
            sums.self += Nanoseconds{self[i]};
        }
    }
    for (int i = 0; i < kSliceClasses; ++i)
        byClass[static_cast<std::size_t>(i)].which = static_cast<SliceClass>(i);
    std::erase_if(byClass, [](const RangeSums::Sum& sum) { return sum.count == 0; });
    sums.byClass = sorted(std::move(byClass));
    sums.names = static_cast<std::int64_t>(byName.size());
    std::vector<RangeSums::Sum> all;
    for (auto& [key, named] : byName) {
        named.sum.name = std::string(trace.string(named.name));
        all.push_back(std::move(named.sum));
    }
    sums.byName = sorted(std::move(all));
    if (sums.byName.size() > RangeSums::kMostNames)
        sums.byName.resize(RangeSums::kMostNames);
    return sums;
}

} // namespace app
