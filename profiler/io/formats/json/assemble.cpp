#include "profiler/io/formats/json/assemble.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace profiler::formats::json {

namespace {

template <class T>
void appendAll(std::vector<T>& whole, std::vector<T>&& part)
{
    whole.insert(whole.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

void unite(std::vector<bool>& whole, const std::vector<bool>& part)
{
    whole.resize(std::max(whole.size(), part.size()));
    for (std::size_t i = 0; i < part.size(); ++i)
        if (part[i])
            whole[i] = true;
}

/// Joins begins and ends of ranges of one thread, or of one asynchronous id of a row. The row is the begin's.
class Joining {
public:
    Joining(Harvest& whole, std::map<std::uint32_t, std::vector<RawSlice>>& made) : m_whole(whole), m_made(made) {}

    void add(const RangeEnd& end)
    {
        auto& open = m_open[{end.hasId ? end.lane : 0, end.hasId, end.id}];
        if (end.begins) {
            open.push_back(end);
        } else if (open.empty()) {
            m_whole.losses.add(Loss::EndWithoutBegin, end.slice.source());
        } else {
            const auto which = openOf(open, end);
            RangeEnd range = *which;
            open.erase(which);
            range.slice.duration = end.slice.begin - range.slice.begin;
            m_made[range.lane].push_back(range.slice);
        }
    }

    void closeOpen()
    {
        for (auto& [key, open] : m_open)
            for (RangeEnd& range : open) {
                m_whole.losses.add(Loss::BeginWithoutEnd, range.slice.source());
                range.slice.duration = std::max<std::int64_t>(m_whole.latest - range.slice.begin, 0);
                range.slice.flags |= slice_flag::kOpen;
                m_made[range.lane].push_back(range.slice);
            }
    }

private:
    static constexpr std::ptrdiff_t kDeepest = 512; ///< names are looked for among so many ranges

    /// The range that `end` ends: the innermost of its name, or where it has none, or one of no open range, of all.
    std::vector<RangeEnd>::iterator openOf(std::vector<RangeEnd>& open, const RangeEnd& end)
    {
        const auto innermost = std::prev(open.end());
        if (!end.named || end.slice.name == innermost->slice.name)
            return innermost;
        const auto last = open.rbegin() + std::min<std::ptrdiff_t>(std::ssize(open), kDeepest);
        const auto found = std::find_if(open.rbegin(), last,
                                        [&](const RangeEnd& range) { return range.slice.name == end.slice.name; });
        m_whole.losses.add(found == last ? Loss::EndOfOther : Loss::EndsCrossed, end.slice.source());
        return found == last ? innermost : std::prev(found.base());
    }

    Harvest& m_whole;
    std::map<std::uint32_t, std::vector<RawSlice>>& m_made;
    std::map<std::tuple<std::uint32_t, bool, std::uint64_t>, std::vector<RangeEnd>> m_open;
};

void addFlow(SharedBuild& shared, Losses& losses, FlowKind kind, const FlowPoint& from, const FlowPoint& to)
{
    const auto source = shared.lanes[from.lane].track, target = shared.lanes[to.lane].track;
    if (source && target)
        shared.builder.addFlow(kind, {*source, traceTime(from.time)}, {*target, traceTime(to.time), to.ofNext});
    else
        losses.add(Loss::FlowWithoutRow, source ? to.offset : from.offset);
}

} // namespace

void append(Harvest& whole, Harvest&& part)
{
    appendAll(whole.rangeEnds, std::move(part.rangeEnds));
    appendAll(whole.flows, std::move(part.flows));
    appendAll(whole.samples, std::move(part.samples));
    appendAll(whole.metadata, std::move(part.metadata));
    unite(whole.stepLanes, part.stepLanes);
    unite(whole.opLanes, part.opLanes);
    unite(whole.callLanes, part.callLanes);
    whole.losses.add(part.losses);
    whole.events += part.events;
    whole.deviceWork += part.deviceWork;
    whole.uncorrelated += part.uncorrelated;
    whole.launchFlows += part.launchFlows;
    whole.sequences += part.sequences;
    whole.markedOps += part.markedOps;
    whole.latest = std::max(whole.latest, part.latest);
}

void assemble(SharedBuild& shared, Harvest& whole, const std::map<std::string, std::string>& values)
{
    assembleRanges(shared, whole);
    assembleFlows(shared, whole);
    const Processes processes = assembleRows(shared, whole, whole.losses);
    assembleCounters(shared, whole, processes, values);
    assembleMetadata(shared, whole, values);
}

void assembleRanges(SharedBuild& shared, Harvest& whole)
{
    // At equal times the file's order decides.
    std::stable_sort(whole.rangeEnds.begin(), whole.rangeEnds.end(),
                     [](const RangeEnd& a, const RangeEnd& b) { return a.slice.begin < b.slice.begin; });
    if (!whole.rangeEnds.empty())
        whole.latest = std::max(whole.latest, whole.rangeEnds.back().slice.begin);
    std::map<std::uint32_t, std::vector<RawSlice>> made;
    Joining joining(whole, made);
    for (const RangeEnd& end : whole.rangeEnds)
        joining.add(end);
    joining.closeOpen();
    for (auto& [lane, slices] : made) {
        // Of equal intervals the one that begins first holds the others.
        std::stable_sort(slices.begin(), slices.end(),
                         [](const RawSlice& a, const RawSlice& b) { return a.source() < b.source(); });
        shared.addMany(lane, std::move(slices));
    }
    whole.rangeEnds = {};
}

void assembleFlows(SharedBuild& shared, Harvest& whole)
{
    std::stable_sort(whole.flows.begin(), whole.flows.end(), [](const FlowPoint& a, const FlowPoint& b) {
        return std::tuple(a.category, a.id, a.time) < std::tuple(b.category, b.id, b.time);
    });
    for (std::size_t first = 0, next = 0; first < whole.flows.size(); first = next) {
        const FlowPoint& flow = whole.flows[first];
        while (next < whole.flows.size() && whole.flows[next].category == flow.category &&
               whole.flows[next].id == flow.id)
            ++next;
        const FlowUse use = kCategories[flow.category].flow;
        const FlowKind kind = use == FlowUse::Launch     ? FlowKind::Launch
                              : use == FlowUse::Backward ? FlowKind::ForwardBackward
                                                         : FlowKind::Async;
        // Ids are used again: an end belongs to the last begin before it.
        const FlowPoint* from = nullptr;
        bool used = false;
        for (std::size_t i = first; i < next; ++i) {
            const FlowPoint& point = whole.flows[i];
            if (from && point.phase != 's') {
                addFlow(shared, whole.losses, kind, *from, point);
                used = true;
            } else if (point.phase != 's' || (from && !used)) {
                whole.losses.add(Loss::FlowWithoutEnd, point.phase == 's' ? from->offset : point.offset);
            }
            if (point.phase != 'f') {
                from = &point;
                used = used && point.phase == 't';
            }
        }
        if (from && !used)
            whole.losses.add(Loss::FlowWithoutEnd, from->offset);
    }
    whole.flows = {};
}

void assembleCounters(SharedBuild& shared, Harvest& whole, const Processes& processes,
                      const std::map<std::string, std::string>& values)
{
    const auto units = counterUnits(values);
    const auto series = [](const Sample& sample) { return std::pair(sample.lane, sample.name); };
    std::stable_sort(whole.samples.begin(), whole.samples.end(), [&](const Sample& a, const Sample& b) {
        return std::tuple(series(a), a.sample.time) < std::tuple(series(b), b.sample.time);
    });
    TrackId track;
    double sum = 0;
    for (std::size_t i = 0; i < whole.samples.size(); ++i) {
        const Sample& sample = whole.samples[i];
        if (i == 0 || series(whole.samples[i - 1]) != series(sample)) {
            Track counter;
            counter.kind = TrackKind::Counter;
            counter.name = shared.builder.string(StringId{sample.name});
            const LaneInfo& lane = shared.lanes[sample.lane];
            if (const auto process = processes.find({lane.key.process, lane.key.processIsText});
                process != processes.end()) {
                counter.pid = process->second.pid;
                counter.processName = process->second.name;
            }
            const auto unit = units.find(counter.name);
            counter.unit = unit != units.end() ? unit->second : sample.isBytes ? "bytes" : "";
            track = shared.builder.addTrack(std::move(counter));
            sum = 0;
        }
        sum = sample.isChange ? sum + sample.sample.value : sample.sample.value;
        shared.builder.addSample(track, {sample.sample.time, sum});
    }
    whole.samples = {};
}

} // namespace profiler::formats::json
