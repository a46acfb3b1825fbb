#pragma once

#include "profiler/analysis/call_tree/call_tree.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace profiler::analysis {

/// A call tree while it grows: finds the child of a node by name. Names are numbers of any kind. Node 0 is the root; a
/// node's index is larger than its parent's.
class PathTree {
public:
    struct Node {
        std::uint32_t parent = 0, name = 0;
        std::uint32_t lastChild = 0; ///< child that child() returned last; 0: none
        std::uint32_t next = 0;      ///< sibling that child() returned after this node; 0: none
        ActivityKind kind = ActivityKind::Other;
        std::int64_t self = 0, calls = 0; ///< ns
        std::int64_t longestTime = -1;    ///< ns
        SliceId longest;

        /// Notes a call; of equally long ones, the one with the smaller id is the longest.
        void note(std::int64_t duration, SliceId slice)
        {
            if (duration > longestTime || (duration == longestTime && slice < longest)) {
                longestTime = duration;
                longest = slice;
            }
        }
    };

    PathTree();

    /// The child of that name, created if there is none. Training repeats itself, so the child that followed the last
    /// one before is tried first.
    std::uint32_t child(std::uint32_t parent, std::uint32_t name, ActivityKind kind)
    {
        const std::uint32_t last = m_nodes[parent].lastChild;
        const std::uint32_t guess = m_nodes[last].next;
        if (last != 0 && guess != 0 && m_nodes[guess].name == name) {
            m_nodes[parent].lastChild = guess;
            return guess;
        }
        return look(parent, last, name, kind);
    }
    [[nodiscard]] Node& operator[](std::uint32_t node) { return m_nodes[node]; }
    [[nodiscard]] const std::vector<Node>& nodes() const { return m_nodes; }

    /// Adds everything in another tree, with the same names.
    /// @return the node here for each node of the other tree
    std::vector<std::uint32_t> add(const PathTree& other);
    /// The finished tree, without nodes that have neither time nor calls.
    /// @param nameOf        the text of a name
    /// @param withoutTime   keep calls without any time
    [[nodiscard]] CallTree finish(const std::function<std::string(std::uint32_t)>& nameOf,
                                  bool withoutTime = true) const;

private:
    std::uint32_t look(std::uint32_t parent, std::uint32_t last, std::uint32_t name, ActivityKind kind);
    void grow();
    [[nodiscard]] std::size_t placeOf(std::uint32_t parent, std::uint32_t name) const
    {
        const std::uint64_t key = (std::uint64_t{parent} << 32 | name) * 0x9E37'79B9'7F4A'7C15U;
        return static_cast<std::size_t>(key >> 32) & (m_places.size() - 1);
    }

    std::vector<Node> m_nodes;
    std::vector<std::uint32_t> m_places; ///< open addressing: nodes by parent and name; 0: free
};

} // namespace profiler::analysis
