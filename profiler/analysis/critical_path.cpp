#include "profiler/analysis/critical_path.h"

#include <algorithm>
#include <map>

namespace profiler::analysis {

/// From the last end back to the first begin, always to what held a piece up.
struct CriticalPathWalk {
    const Trace& trace;
    const ReplayGraph& graph;
    TimeRange within;
    ReplayGraph::Run run = graph.run({});
    CriticalPath path{};

    [[nodiscard]] std::size_t laneOf(std::uint32_t node) const
    {
        const auto lane = std::upper_bound(graph.m_lanes.begin(), graph.m_lanes.end(), node,
                                           [](std::uint32_t n, const ReplayGraph::Lane& row) { return n < row.end; });
        return static_cast<std::size_t>(lane - graph.m_lanes.begin());
    }

    void add(const ReplayGraph::Node& node, ReplayWork::Where where, std::int64_t begin, std::int64_t end, bool latency)
    {
        TimeRange range{traceTime(begin), traceTime(end)};
        if (!within.empty())
            range = range.clippedTo(within);
        if (range.empty())
            return;
        path.pieces.push_back({node.slice, range, std::string(trace.string(node.name)), where, latency});
        Nanoseconds& sum = latency                              ? path.latency
                           : where == ReplayWork::Where::Device ? path.device
                           : where == ReplayWork::Where::Loader ? path.loader
                                                                : path.host;
        sum += range.duration();
    }

    void go()
    {
        if (run.ends.empty())
            return;
        auto at = static_cast<std::uint32_t>(std::max_element(run.ends.begin(), run.ends.end()) - run.ends.begin());
        for (;;) {
            const ReplayGraph::Lane& lane = graph.m_lanes[laneOf(at)];
            const ReplayGraph::Node& node = graph.m_nodes[at];
            const bool crosses = run.crossBound[at];
            const bool first = at == lane.begin && !crosses;
            const std::uint32_t cause = first ? ReplayGraph::kNone : crosses ? node.cross : at - 1;
            const std::int64_t from = first ? run.ends[at] - node.duration : run.ends[cause];
            const std::int64_t begin =
                node.endsAfter && crosses ? run.ends[at] : std::max(from, run.ends[at] - node.duration);
            add(node, lane.where, begin, run.ends[at], false);
            if (from < begin)
                add(node, lane.where, from, begin, true);
            if (first)
                break;
            at = cause;
        }
        std::reverse(path.pieces.begin(), path.pieces.end());
    }

    void sum()
    {
        std::map<std::pair<std::string, ReplayWork::Where>, Nanoseconds> sums;
        for (const CriticalPath::Piece& piece : path.pieces)
            if (!piece.latency)
                sums[{piece.name, piece.where}] += piece.range.duration();
        for (const auto& [key, time] : sums)
            path.byName.push_back({key.first, key.second, time});
        std::stable_sort(path.byName.begin(), path.byName.end(),
                         [](const auto& a, const auto& b) { return a.time > b.time; });
    }
};

CriticalPath criticalPath(const Trace& trace, const ReplayGraph& graph, TimeRange within)
{
    CriticalPathWalk walk{trace, graph, within};
    walk.go();
    walk.sum();
    return std::move(walk.path);
}

} // namespace profiler::analysis
