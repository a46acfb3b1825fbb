#include "app/tables/range_sums.h"

#include <algorithm>
#include <limits>
#include <map>
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

Clipped clipped(const Slice& slice, TimeRange range)
{
    const TimeRange inside = slice.range().clippedTo(range);
    return {toNs(inside.begin), inside.duration().count(), slice.name, slice.id.ordinal, slice.kind, slice.depth};
}

/// Sorts the slices of one track, parents first.
void sortByNesting(std::vector<Clipped>& slices)
{
    const auto before = [](const Clipped& a, const Clipped& b) {
        return std::tuple(a.begin, a.depth, b.duration) < std::tuple(b.begin, b.depth, a.duration);
    };
    if (!std::is_sorted(slices.begin(), slices.end(), before))
        std::sort(slices.begin(), slices.end(), before);
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

/// Self times: the duration of each slice minus the time of the nested ones.
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

/// Sums up the slices of one track after another.
class Sums {
public:
    Sums(const Trace& trace, TimeRange range) : m_trace(trace), m_classes(trace), m_byClass(kSliceClasses)
    {
        m_sums.range = range;
    }

    void addTrack(profiler::TrackId track, std::vector<Clipped> slices)
    {
        if (slices.empty())
            return;
        sortByNesting(slices);
        m_sums.byTrack.push_back({track, static_cast<std::int64_t>(slices.size()), busyTime(slices)});
        const std::vector<std::int64_t> self = selfTimes(slices);
        for (std::size_t i = 0; i < slices.size(); ++i) {
            const Clipped& slice = slices[i];
            const SliceClass which = m_classes(slice.kind, slice.name);
            add(m_byClass[static_cast<std::size_t>(which)], track, slice, self[i]);
            auto& named = m_byName[std::uint64_t{slice.name.value} << 8 | static_cast<std::uint64_t>(which)];
            named.name = slice.name;
            named.sum.which = which;
            add(named.sum, track, slice, self[i]);
            ++m_sums.count;
            m_sums.self += Nanoseconds{self[i]};
        }
    }

    RangeSums made()
    {
        for (int i = 0; i < kSliceClasses; ++i)
            m_byClass[static_cast<std::size_t>(i)].which = static_cast<SliceClass>(i);
        std::erase_if(m_byClass, [](const RangeSums::Sum& sum) { return sum.count == 0; });
        m_sums.byClass = sorted(std::move(m_byClass));
        m_sums.names = static_cast<std::int64_t>(m_byName.size());
        std::vector<RangeSums::Sum> all;
        for (auto& [key, named] : m_byName) {
            named.sum.name = std::string(m_trace.string(named.name));
            all.push_back(std::move(named.sum));
        }
        m_sums.byName = sorted(std::move(all));
        if (m_sums.byName.size() > RangeSums::kMostNames)
            m_sums.byName.resize(RangeSums::kMostNames);
        return std::move(m_sums);
    }

private:
    const Trace& m_trace;
    ClassLookup m_classes;
    std::vector<RangeSums::Sum> m_byClass;
    std::unordered_map<std::uint64_t, NamedSum> m_byName;
    RangeSums m_sums;
};

RangeSums stopped(TimeRange range)
{
    RangeSums sums;
    sums.range = range;
    sums.stopped = true;
    return sums;
}

} // namespace

RangeSums rangeSums(const Trace& trace, TimeRange range, const std::stop_token& stop)
{
    Sums sums(trace, range);
    for (const profiler::Track& track : trace.tracks()) {
        std::vector<Clipped> slices;
        trace.forEach(track.id, range, [&](const Slice& slice) {
            if (slice.kind != profiler::ActivityKind::Step)
                slices.push_back(clipped(slice, range));
            return !stop.stop_requested();
        });
        if (stop.stop_requested())
            return stopped(range);
        sums.addTrack(track.id, std::move(slices));
    }
    return sums.made();
}

RangeSums sliceSums(const Trace& trace, const std::vector<profiler::SliceId>& slices, const std::stop_token& stop)
{
    TimeRange range{profiler::TraceTime::max(), profiler::TraceTime::min()};
    std::map<profiler::TrackId, std::vector<Slice>> byTrack; // in the order of the trace
    for (const profiler::SliceId id : slices) {
        if (stop.stop_requested())
            return stopped({});
        const Slice slice = trace.slice(id);
        range = {std::min(range.begin, slice.begin), std::max(range.end, slice.end())};
        byTrack[id.track].push_back(slice);
    }
    Sums sums(trace, slices.empty() ? TimeRange{} : range);
    for (const auto& [track, selected] : byTrack) {
        std::vector<Clipped> all;
        for (const Slice& slice : selected)
            all.push_back(clipped(slice, range));
        sums.addTrack(track, std::move(all));
    }
    return sums.made();
}

} // namespace app
