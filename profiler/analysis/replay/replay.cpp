#include "profiler/analysis/replay/replay.h"

#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

namespace {

std::int64_t scaled(std::int64_t duration, double factor)
{
    return factor == 1 ? duration : std::llround(static_cast<double>(duration) * factor);
}

} // namespace

ReplayWork ReplayGraph::work(const Sequence& sequence, const Node& node) const
{
    return {.where = sequence.where,
            .kind = node.kind,
            .name = node.name,
            .phase = m_phases[node.phase],
            .slice = node.slice,
            .duration = Nanoseconds{node.duration},
            .waits = node.endsAfter,
            .cause = node.endsAfter ? m_nodes[node.cross].slice : SliceId{}};
}

/// Replays the sequences in turn: each continues until it needs an end that is not known yet.
ReplayGraph::Run ReplayGraph::run(const WhatIf& whatIf, const std::stop_token& stop) const
{
    Run result{std::vector<std::int64_t>(m_nodes.size()), std::vector<bool>(m_nodes.size())};
    std::vector<bool> done(m_nodes.size());
    struct Cursor {
        std::uint32_t next;
        std::int64_t free; ///< the earliest start of the sequence's next piece
    };
    std::vector<Cursor> cursors;
    for (const Sequence& sequence : m_sequences)
        cursors.push_back({sequence.begin, m_begin});
    const auto step = [&](const Sequence& sequence, Cursor& cursor) {
        const std::uint32_t i = cursor.next;
        const Node& node = m_nodes[i];
        const ReplayChange change = whatIf ? whatIf(work(sequence, node)) : ReplayChange{};
        const bool crosses = node.cross != kNone && done[node.cross] && (change.waits || !node.endsAfter);
        const std::int64_t after = crosses ? result.ends[node.cross] + node.crossLag : m_begin;
        std::int64_t start = cursor.free + node.lag;
        if (crosses && !node.endsAfter && after > start) {
            start = after;
            result.crossBound[i] = true;
        }
        std::int64_t end = start + scaled(node.endsAfter ? node.own : node.duration, change.factor);
        if (crosses && node.endsAfter && after >= end) {
            end = after;
            result.crossBound[i] = true;
        }
        result.ends[i] = end;
        done[i] = true;
        cursor.free = change.blocks ? end : start;
        ++cursor.next;
    };
    for (;;) {
        bool moved = false, left = false;
        for (std::size_t l = 0; l < m_sequences.size(); ++l) {
            const Sequence& sequence = m_sequences[l];
            for (; cursors[l].next < sequence.end; moved = true) {
                const std::uint32_t cross = m_nodes[cursors[l].next].cross;
                if (cross != kNone && !done[cross])
                    break;
                if (stop.stop_requested())
                    return {};
                step(sequence, cursors[l]);
            }
            left = left || cursors[l].next < sequence.end;
        }
        if (!left)
            return result;
        if (moved)
            continue;
        // All sequences wait for each other, which happens in traces with inconsistent clocks. The piece that was
        // recorded first continues.
        std::size_t first = m_sequences.size();
        for (std::size_t l = 0; l < m_sequences.size(); ++l)
            if (cursors[l].next < m_sequences[l].end &&
                (first == m_sequences.size() || m_nodes[cursors[l].next].end < m_nodes[cursors[first].next].end))
                first = l;
        step(m_sequences[first], cursors[first]);
    }
}

/// A step lasts until all work that had ended at its mark is done, because the host's marks alone run ahead of the
/// device.
std::vector<double> ReplayGraph::stepUs(const Run& run) const
{
    struct Mark {
        std::int64_t at;
        std::size_t index;
    };
    std::vector<Mark> marks;
    for (std::size_t i = 0; i < m_steps.size(); ++i) {
        marks.push_back({toNs(m_steps[i].begin), 2 * i});
        marks.push_back({toNs(m_steps[i].end), 2 * i + 1});
    }
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.at < b.at; });
    std::vector<std::int64_t> times(marks.size(), std::numeric_limits<std::int64_t>::min());
    for (const Sequence& sequence : m_sequences) {
        if (sequence.where == ReplayWork::Where::Loader)
            continue;
        std::int64_t latest = std::numeric_limits<std::int64_t>::min();
        auto mark = marks.begin();
        for (std::uint32_t i = sequence.begin; i < sequence.end; ++i) {
            for (; mark != marks.end() && mark->at < m_nodes[i].end; ++mark)
                times[mark->index] = std::max(times[mark->index], latest);
            latest = std::max(latest, run.ends[i]);
        }
        for (; mark != marks.end(); ++mark)
            times[mark->index] = std::max(times[mark->index], latest);
    }
    std::vector<double> us;
    for (std::size_t i = 0; i < m_steps.size(); ++i)
        us.push_back(times[2 * i] == std::numeric_limits<std::int64_t>::min()
                         ? 0
                         : toUs(Nanoseconds{times[2 * i + 1] - times[2 * i]}));
    return us;
}

Replayed ReplayGraph::replay(const WhatIf& whatIf) const
{
    const Run result = run(whatIf);
    Replayed replayed;
    if (!result.ends.empty())
        replayed.duration = Nanoseconds{*std::max_element(result.ends.begin(), result.ends.end()) - m_begin};
    replayed.stepUs = stepUs(result);
    return replayed;
}

double ReplayGraph::linkedShare() const
{
    std::size_t all = 0, linked = 0;
    for (const Sequence& sequence : m_sequences)
        if (sequence.where == ReplayWork::Where::Device)
            for (std::uint32_t i = sequence.begin; i < sequence.end; ++i) {
                ++all;
                linked += m_nodes[i].cross != kNone;
            }
    return all > 0 ? static_cast<double>(linked) / static_cast<double>(all) : 0;
}

std::vector<double> savedPerStep(const std::vector<Step>& steps, const Replayed& before, const Replayed& after)
{
    std::vector<double> saved;
    for (std::size_t i = 0; i < std::min({steps.size(), before.stepUs.size(), after.stepUs.size()}); ++i)
        if (isSteady(steps[i]))
            saved.push_back(before.stepUs[i] - after.stepUs[i]);
    return saved;
}

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
