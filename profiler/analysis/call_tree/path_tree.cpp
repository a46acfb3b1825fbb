#include "profiler/analysis/call_tree/path_tree.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace profiler::analysis {

PathTree::PathTree() : m_nodes(1), m_places(1024) {}

std::uint32_t PathTree::look(std::uint32_t parent, std::uint32_t last, std::uint32_t name, ActivityKind kind)
{
    std::size_t place = placeOf(parent, name);
    while (m_places[place] != 0) {
        const Node& node = m_nodes[m_places[place]];
        if (node.parent == parent && node.name == name)
            break;
        place = (place + 1) & (m_places.size() - 1);
    }
    std::uint32_t found = m_places[place];
    if (found == 0) {
        found = static_cast<std::uint32_t>(m_nodes.size());
        m_places[place] = found;
        Node node;
        node.parent = parent;
        node.name = name;
        node.kind = kind;
        m_nodes.push_back(node);
        if (2 * m_nodes.size() > m_places.size())
            grow();
    }
    if (last != 0)
        m_nodes[last].next = found;
    m_nodes[parent].lastChild = found;
    return found;
}

void PathTree::grow()
{
    m_places.assign(2 * m_places.size(), 0);
    for (std::uint32_t i = 1; i < m_nodes.size(); ++i) {
        std::size_t place = placeOf(m_nodes[i].parent, m_nodes[i].name);
        while (m_places[place] != 0)
            place = (place + 1) & (m_places.size() - 1);
        m_places[place] = i;
    }
}

std::vector<std::uint32_t> PathTree::add(const PathTree& other)
{
    std::vector<std::uint32_t> here(other.m_nodes.size());
    for (std::uint32_t i = 1; i < other.m_nodes.size(); ++i) {
        const Node& theirs = other.m_nodes[i];
        here[i] = child(here[theirs.parent], theirs.name, theirs.kind);
        Node& mine = m_nodes[here[i]];
        mine.self += theirs.self;
        mine.calls += theirs.calls;
        if (theirs.longestTime >= 0)
            mine.note(theirs.longestTime, theirs.longest);
    }
    return here;
}

CallTree PathTree::finish(const std::function<std::string(std::uint32_t)>& nameOf, bool withoutTime) const
{
    const auto count = static_cast<std::uint32_t>(m_nodes.size());
    std::vector<std::int64_t> totals(count);
    std::vector<bool> kept(count);
    for (std::uint32_t i = count; i-- > 0;) {
        const Node& node = m_nodes[i];
        totals[i] += node.self;
        kept[i] = kept[i] || i == 0 || totals[i] > 0 || (withoutTime && node.calls > 0);
        if (i > 0) {
            totals[node.parent] += totals[i];
            kept[node.parent] = kept[node.parent] || kept[i];
        }
    }
    CallTree tree;
    std::unordered_map<std::uint32_t, std::uint32_t> names;
    std::vector<std::uint32_t> nameAt(count);
    std::vector<std::uint32_t> first(count + 1);
    for (std::uint32_t i = 1; i < count; ++i) {
        if (!kept[i])
            continue;
        const auto [known, isNew] =
            names.try_emplace(m_nodes[i].name, static_cast<std::uint32_t>(tree.names.size() + 1));
        if (isNew)
            tree.names.push_back(nameOf(m_nodes[i].name));
        nameAt[i] = known->second;
        ++first[m_nodes[i].parent + 1];
    }
    tree.names.insert(tree.names.begin(), std::string()); // the root's
    for (std::uint32_t i = 0; i < count; ++i)
        first[i + 1] += first[i];
    std::vector<std::uint32_t> children(first[count]), at(first);
    for (std::uint32_t i = 1; i < count; ++i)
        if (kept[i])
            children[at[m_nodes[i].parent]++] = i;
    // A stack of nodes to visit, smallest child first, makes the order of visits the preorder.
    tree.nodes.clear();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open = {{0, 0}}; // node here, parent in the result
    while (!open.empty()) {
        const auto [i, parent] = open.back();
        open.pop_back();
        const Node& node = m_nodes[i];
        const auto place = static_cast<std::uint32_t>(tree.nodes.size());
        tree.nodes.push_back({parent, place + 1, nameAt[i], node.kind, Nanoseconds{node.self}, Nanoseconds{totals[i]},
                              node.calls, node.longest, Nanoseconds{node.longestTime}});
        const auto begin = children.begin() + first[i], end = children.begin() + first[i + 1];
        std::sort(begin, end, [&](std::uint32_t a, std::uint32_t b) {
            return totals[a] != totals[b] ? totals[a] < totals[b] : tree.names[nameAt[a]] > tree.names[nameAt[b]];
        });
        for (auto child = begin; child != end; ++child)
            open.emplace_back(*child, place);
    }
    for (auto i = static_cast<std::uint32_t>(tree.nodes.size()); i-- > 1;)
        tree.nodes[tree.nodes[i].parent].end = std::max(tree.nodes[tree.nodes[i].parent].end, tree.nodes[i].end);
    return tree;
}

} // namespace profiler::analysis
