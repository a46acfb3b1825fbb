#include "app/models/range_sums.h"

#include <algorithm>
#include <unordered_map>

namespace app {

using profiler::Nanoseconds;
using profiler::Slice;
using profiler::TimeRange;
using profiler::Trace;

namespace {

/// Slices of one track within the range, clipped to it, outer ones first.
std::vector<Slice> clippedSlices(const Trace& trace, profiler::TrackId track, TimeRange range,
                                 const std::stop_token& stop)
{
    std::vector<Slice> slices;
    trace.forEach(track, range, [&](const Slice& slice) {
        Slice clipped = slice;
        const TimeRange inside = slice.range().clippedTo(range);
        clipped.begin = inside.begin;
        clipped.duration = inside.duration();
        if (slice.kind != profiler::ActivityKind::Step)
            slices.push_back(clipped);
        return !stop.stop_requested();
    });
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
        return std::tuple(a.begin, a.depth, b.duration) < std::tuple(b.begin, b.depth, a.duration);
    });
    return slices;
}

void add(RangeSums::Sum& sum, const Slice& slice, Nanoseconds self)
{
    ++sum.count;
    sum.self += self;
    if (slice.duration >= sum.longestDuration) {
        sum.longestDuration = slice.duration;
        sum.longest = slice.id;
    }
}

std::vector<RangeSums::Sum> sorted(std::vector<RangeSums::Sum> sums)
{
    std::sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
        return std::tuple(b.self, b.count, a.name) < std::tuple(a.self, a.count, b.name);
    });
    return sums;
}

/// Exclusive times: each slice's duration less what the slices directly inside it cover.
std::vector<Nanoseconds> selfTimes(const std::vector<Slice>& slices)
{
    std::vector<Nanoseconds> self(slices.size());
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
    for (Nanoseconds& time : self)
        time = std::max(time, Nanoseconds{0});
    return self;
}

} // namespace

RangeSums rangeSums(const Trace& trace, TimeRange range, const std::stop_token& stop)
{
    RangeSums sums;
    sums.range = range;
    ClassLookup classes;
    std::vector<RangeSums::Sum> byClass(kSliceClasses);
    std::unordered_map<std::uint64_t, RangeSums::Sum> byName;
    for (const profiler::Track& track : trace.tracks()) {
        const std::vector<Slice> slices = clippedSlices(trace, track.id, range, stop);
        sums.stopped = stop.stop_requested();
        if (sums.stopped)
            return sums;
        const std::vector<Nanoseconds> self = selfTimes(slices);
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const Slice& slice = slices[i];
            const SliceClass which = classes(trace, slice.kind, slice.name);
            add(byClass[static_cast<std::size_t>(which)], slice, self[i]);
            auto& named = byName[std::uint64_t{slice.name.value} << 8 | static_cast<std::uint64_t>(which)];
            if (named.count == 0) {
                named.name = std::string(trace.name(slice));
                named.which = which;
            }
            add(named, slice, self[i]);
            ++sums.count;
            sums.self += self[i];
        }
    }
    for (int i = 0; i < kSliceClasses; ++i)
        byClass[static_cast<std::size_t>(i)].which = static_cast<SliceClass>(i);
    std::erase_if(byClass, [](const RangeSums::Sum& sum) { return sum.count == 0; });
    sums.byClass = sorted(std::move(byClass));
    sums.names = static_cast<std::int64_t>(byName.size());
    std::vector<RangeSums::Sum> all;
    for (auto& [key, sum] : byName)
        all.push_back(std::move(sum));
    sums.byName = sorted(std::move(all));
    if (sums.byName.size() > RangeSums::kMostNames)
        sums.byName.resize(RangeSums::kMostNames);
    return sums;
}

} // namespace app
