#include "profiler/analysis/device/critical_path.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

/// Walks from the last end back to the first start, always to the work that delayed the current piece.
struct CriticalPathWalk {
    const Trace& trace;
    const ReplayGraph& graph;
    const Intervals& within;
    const std::stop_token& stop;
    ReplayGraph::Run run = graph.run({}, stop);
    CriticalPath path{};
    std::unordered_map<std::uint64_t, CriticalPath::Share> shares{}; ///< by name and thread or device

    [[nodiscard]] std::size_t sequenceOf(std::uint32_t node) const
    {
        const auto sequence =
            std::upper_bound(graph.m_sequences.begin(), graph.m_sequences.end(), node,
                             [](std::uint32_t n, const ReplayGraph::Sequence& row) { return n < row.end; });
        return static_cast<std::size_t>(sequence - graph.m_sequences.begin());
    }

    void add(const ReplayGraph::Node& node, ReplayWork::Where where, std::int64_t begin, std::int64_t end, bool latency)
    {
        const TimeRange range{traceTime(begin), traceTime(end)};
        if (within.empty()) {
            put(node, where, range, latency);
            return;
        }
        const auto windows = overlapping(within, range);
        for (auto window = windows.rbegin(); window != windows.rend(); ++window)
            put(node, where, range.clippedTo(*window), latency);
    }

    void put(const ReplayGraph::Node& node, ReplayWork::Where where, TimeRange range, bool latency)
    {
        if (range.empty())
            return;
        path.pieces.push_back({range, where, latency});
        Nanoseconds& sum = latency                              ? path.latency
                           : where == ReplayWork::Where::Device ? path.device
                           : where == ReplayWork::Where::Loader ? path.loader
                                                                : path.host;
        sum += range.duration();
        if (latency)
            return;
        CriticalPath::Share& share = shares[std::uint64_t{node.name.value} << 8 | static_cast<std::uint64_t>(where)];
        share.where = where;
        share.time += range.duration();
        if (range.duration() >= share.longestTime) { // going backwards, so the first of equally long pieces wins
            share.longestTime = range.duration();
            share.longest = node.slice;
        }
    }

    /// The work that ends last; loader workers count only if nothing else works.
    [[nodiscard]] std::uint32_t last() const
    {
        std::uint32_t found = ReplayGraph::kNone;
        bool ofLoader = true;
        for (const ReplayGraph::Sequence& sequence : graph.m_sequences) {
            const bool loader = sequence.where == ReplayWork::Where::Loader;
            if (sequence.begin == sequence.end || (loader && !ofLoader))
                continue;
            const auto first = run.ends.begin();
            const auto end =
                static_cast<std::uint32_t>(std::max_element(first + sequence.begin, first + sequence.end) - first);
            if (found == ReplayGraph::kNone || (ofLoader && !loader) || run.ends[end] > run.ends[found])
                found = end;
            ofLoader = loader;
        }
        return found;
    }

    void follow()
    {
        if (run.ends.empty())
            return;
        std::uint32_t at = last();
        while (!stop.stop_requested()) {
            const ReplayGraph::Sequence& sequence = graph.m_sequences[sequenceOf(at)];
            const ReplayGraph::Node& node = graph.m_nodes[at];
            const bool crosses = run.crossBound[at];
            const bool first = at == sequence.begin && !crosses;
            const std::uint32_t cause = first ? ReplayGraph::kNone : crosses ? node.cross : at - 1;
            const std::int64_t from = first ? run.ends[at] - node.duration : run.ends[cause];
            const std::int64_t begin =
                node.endsAfter && crosses ? run.ends[at] : std::max(from, run.ends[at] - node.duration);
            add(node, sequence.where, begin, run.ends[at], false);
            if (from < begin)
                add(node, sequence.where, from, begin, true);
            if (first)
                break;
            at = cause;
        }
        std::reverse(path.pieces.begin(), path.pieces.end());
    }

    void sum()
    {
        for (auto& [key, share] : shares) {
            share.name = trace.string(StringId{static_cast<std::uint32_t>(key >> 8)});
            path.byName.push_back(std::move(share));
        }
        std::sort(path.byName.begin(), path.byName.end(), [](const auto& a, const auto& b) {
            return std::tie(b.time, a.name, a.where) < std::tie(a.time, b.name, b.where);
        });
    }
};

CriticalPath criticalPath(const Trace& trace, const ReplayGraph& graph, const Intervals& within,
                          const std::stop_token& stop)
{
    CriticalPathWalk walk{trace, graph, within, stop};
    walk.follow();
    walk.sum();
    return std::move(walk.path);
}

} // namespace profiler::analysis
