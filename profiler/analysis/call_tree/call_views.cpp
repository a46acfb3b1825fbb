#include "profiler/analysis/call_tree/call_views.h"

#include "profiler/analysis/call_tree/call_tree.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace profiler::analysis {

namespace {

constexpr std::uint32_t kStopEvery = 4096; ///< nodes between two looks at the stop token

/// For each node: it is inside another call of the same name.
std::vector<bool> recursiveCalls(const CallTree& tree)
{
    std::vector<bool> recursive(tree.nodes.size());
    std::vector<std::uint32_t> open(tree.names.size()); // end of the outermost open call, by name
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& node = tree.nodes[i];
        recursive[i] = i < open[node.name];
        if (!recursive[i])
            open[node.name] = node.end;
    }
    return recursive;
}

/// Adds the path from a node up to its outermost caller.
void addCallers(PathTree& paths, const CallTree& tree, std::uint32_t from, Nanoseconds time)
{
    std::uint32_t at = 0;
    for (std::uint32_t i = from; i != 0; i = tree.nodes[i].parent) {
        const CallNode& node = tree.nodes[i];
        at = paths.child(at, node.name, node.kind);
        PathTree::Node& path = paths[at];
        path.calls += tree.nodes[from].calls;
        if (node.longestTime.count() >= 0)
            path.note(node.longestTime.count(), node.longest);
    }
    paths[at].self += time.count();
}

CallTree finish(const PathTree& paths, const CallTree& tree)
{
    CallTree result = paths.finish([&](std::uint32_t name) { return tree.names[name]; });
    result.steps = tree.steps;
    result.sampledEvery = tree.sampledEvery;
    return result;
}

/// Numbers for the names of several trees.
class SharedNames {
public:
    std::vector<std::uint32_t> numbersOf(const CallTree& tree)
    {
        std::vector<std::uint32_t> numbers;
        for (const std::string& name : tree.names) {
            const auto [known, isNew] = m_numbers.try_emplace(name, static_cast<std::uint32_t>(m_names.size()));
            if (isNew)
                m_names.push_back(name);
            numbers.push_back(known->second);
        }
        return numbers;
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(m_names); }

private:
    std::unordered_map<std::string, std::uint32_t> m_numbers;
    std::vector<std::string> m_names;
};

/// Nodes in any order, parents before children, become preorder with the largest weight first.
std::vector<CallChange> inPreorder(const std::vector<CallChange>& nodes, const std::vector<std::string>& names)
{
    std::vector<std::vector<std::uint32_t>> children(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i)
        children[nodes[i].parent].push_back(i);
    std::vector<CallChange> sorted;
    sorted.reserve(nodes.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open = {{0, 0}};
    while (!open.empty()) {
        const auto [i, parent] = open.back();
        open.pop_back();
        const auto place = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(nodes[i]);
        sorted.back().parent = parent;
        sorted.back().end = place + 1;
        std::sort(children[i].begin(), children[i].end(), [&](std::uint32_t a, std::uint32_t b) {
            return nodes[a].weight() != nodes[b].weight() ? nodes[a].weight() < nodes[b].weight()
                                                          : names[nodes[a].name] > names[nodes[b].name];
        });
        for (const std::uint32_t child : children[i])
            open.emplace_back(child, place);
    }
    for (auto i = static_cast<std::uint32_t>(sorted.size()); i-- > 1;)
        sorted[sorted[i].parent].end = std::max(sorted[sorted[i].parent].end, sorted[i].end);
    return sorted;
}

} // namespace

CallTree bottomUp(const CallTree& tree, const std::stop_token& stop)
{
    PathTree paths;
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        if (i % kStopEvery == 0 && stop.stop_requested())
            return {};
        if (tree.nodes[i].self.count() > 0)
            addCallers(paths, tree, i, tree.nodes[i].self);
    }
    return finish(paths, tree);
}

Sandwich sandwich(const CallTree& tree, std::string_view name)
{
    const std::vector<bool> recursive = recursiveCalls(tree);
    PathTree callers, callees;
    std::vector<std::uint32_t> here(tree.nodes.size());
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& root = tree.nodes[i];
        if (recursive[i] || tree.name(root) != name)
            continue;
        addCallers(callers, tree, i, root.total);
        for (std::uint32_t j = i; j < root.end; ++j) {
            const CallNode& node = tree.nodes[j];
            here[j] = callees.child(j == i ? 0 : here[node.parent], node.name, node.kind);
            PathTree::Node& callee = callees[here[j]];
            callee.self += node.self.count();
            callee.calls += node.calls;
            if (node.longestTime.count() >= 0)
                callee.note(node.longestTime.count(), node.longest);
        }
    }
    return {finish(callers, tree), finish(callees, tree)};
}

std::vector<CallTotal> callTotals(const CallTree& tree)
{
    const std::vector<bool> recursive = recursiveCalls(tree);
    std::vector<CallTotal> totals(tree.names.size());
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& node = tree.nodes[i];
        CallTotal& total = totals[node.name];
        total.name = tree.name(node);
        total.kind = node.kind;
        total.self += node.self;
        total.total += recursive[i] ? Nanoseconds{0} : node.total;
        total.calls += node.calls;
        if (node.longestTime > total.longestTime) {
            total.longestTime = node.longestTime;
            total.longest = node.longest;
        }
    }
    std::erase_if(totals, [](const CallTotal& total) { return total.name.empty() && total.total.count() == 0; });
    std::stable_sort(totals.begin(), totals.end(), [](const CallTotal& a, const CallTotal& b) {
        return a.self != b.self ? a.self > b.self : a.total > b.total;
    });
    return totals;
}

CallDifference difference(const CallTree& a, const CallTree& b)
{
    SharedNames shared;
    const std::vector<std::uint32_t> namesA = shared.numbersOf(a), namesB = shared.numbersOf(b);
    CallDifference difference;
    difference.names = shared.take();
    difference.perStep = a.steps > 0 && b.steps > 0;
    PathTree paths;
    std::vector<CallChange> changes(1);
    const auto add = [&](const CallTree& tree, const std::vector<std::uint32_t>& names, bool isB) {
        const double scale = difference.perStep ? 1.0 / static_cast<double>(tree.steps) : 1;
        std::vector<std::uint32_t> here(tree.nodes.size());
        for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
            const CallNode& node = tree.nodes[i];
            if (i > 0)
                here[i] = paths.child(here[node.parent], names[node.name], node.kind);
            changes.resize(paths.nodes().size());
            CallChange& change = changes[here[i]];
            change.parent = paths[here[i]].parent;
            change.name = names[node.name];
            change.kind = node.kind;
            (isB ? change.selfB : change.selfA) = static_cast<double>(node.self.count()) * scale;
            (isB ? change.totalB : change.totalA) = static_cast<double>(node.total.count()) * scale;
            (isB ? change.callsB : change.callsA) = static_cast<double>(node.calls) * scale;
            (isB ? change.longestB : change.longestA) = node.longest;
            (isB ? change.longestTimeB : change.longestTimeA) = node.longestTime;
        }
    };
    add(a, namesA, false);
    add(b, namesB, true);
    difference.nodes = inPreorder(changes, difference.names);
    return difference;
}

std::string collapsedStacks(const CallTree& tree)
{
    const auto clean = [](std::string_view name) {
        std::string text(name);
        std::replace(text.begin(), text.end(), ';', ':');
        std::replace(text.begin(), text.end(), '\n', ' ');
        std::replace(text.begin(), text.end(), '\r', ' ');
        return text;
    };
    std::string lines, path;
    std::vector<std::size_t> lengths(tree.nodes.size()); // of the path's text, by node on the current path
    for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
        const CallNode& node = tree.nodes[i];
        path.resize(lengths[node.parent]);
        path += (path.empty() ? "" : ";") + clean(tree.name(node));
        lengths[i] = path.size();
        if (const auto us = (node.self.count() + 500) / 1000; us > 0)
            lines += path + ' ' + std::to_string(us) + '\n';
    }
    return lines;
}

} // namespace profiler::analysis
