#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// The calls of a trace by path: the finished tree, and PathTree for building one.
namespace profiler::analysis {

/// The slices that become the calls of a tree; the time of other slices belongs to the call around them.
enum class CallGrouping : std::uint8_t {
    Operator, ///< operators, ranges, phases and, for host time, CUDA calls
    Python,   ///< Python functions (PyTorch's profiler: with_stack)
    Module    ///< nn.Module calls (PyTorch's profiler: with_stack, or with_modules)
};
enum class CallTime : std::uint8_t {
    Host,  ///< time on the host threads
    Device ///< time of the kernels, copies and memsets that a call launched; parallel streams add up
};

/// The part of a trace that a tree covers.
struct CallScope {
    Intervals window = {};            ///< empty: the whole trace
    std::size_t steps = 0;            ///< number of steps in `window`, for figures per step; 0: not steps
    std::vector<TrackId> tracks = {}; ///< only these, sorted by id; empty: all
};
/// The scope of these steps: their times, on the tracks of their process.
CallScope scopeOf(const Trace& trace, const std::vector<Step>& steps);

/// A call path, from the root to this name.
struct CallNode {
    std::uint32_t parent = 0; ///< index of the caller; the root is its own parent
    std::uint32_t end = 1;    ///< index after the last node of this subtree
    std::uint32_t name = 0;   ///< index into CallTree::names
    ActivityKind kind = ActivityKind::Other;
    Nanoseconds self{}, total{};
    std::int64_t calls = 0;      ///< calls that start within the scope; 0 for a caller that started before it
    SliceId longest;             ///< the longest of these calls, or of those that overlap the scope
    Nanoseconds longestTime{-1}; ///< −1: there is none (the root)
};

/// Calls by path. `nodes` is in preorder: the children of node i are i + 1, nodes[i + 1].end, …, below nodes[i].end,
/// largest total first. nodes[0] is the root. The total of a node is its self time plus the totals of its children, so
/// the sum of all self times is the total of the root.
struct CallTree {
    std::vector<std::string> names;
    std::vector<CallNode> nodes = std::vector<CallNode>(1);
    std::size_t steps = 0; ///< CallScope::steps
    /// Of calls that were sampled, whose number is unknown: the usual time between two samples; 0: they were recorded.
    Nanoseconds sampledEvery{};

    [[nodiscard]] Nanoseconds total() const { return nodes.front().total; }
    [[nodiscard]] bool empty() const { return nodes.size() == 1; }
    [[nodiscard]] std::string_view name(const CallNode& node) const { return names[node.name]; }
    /// Calls `visit(index)` for each child of a node, largest total first.
    template <class Visit>
    void forEachChild(std::uint32_t node, Visit&& visit) const
    {
        for (std::uint32_t child = node + 1; child < nodes[node].end; child = nodes[child].end)
            visit(child);
    }
};

/// Name of device work whose launch was not recorded; its work is below it.
inline constexpr std::string_view kLaunchNotRecorded = "launch not recorded";

/// True for the name of a Python function or nn.Module call as PyTorch's profiler records it: "train.py(12): step".
bool isPythonCall(std::string_view name);
/// True for "nn.Module: Linear_0".
bool isModuleCall(std::string_view name);
/// True if the trace contains the calls that the grouping needs. Does not look at slices.
bool hasCalls(const Trace& trace, CallGrouping grouping);

struct CallTreeOptions {
    CallGrouping by = CallGrouping::Operator;
    CallTime time = CallTime::Host;
    CallScope scope = {};
    std::string stepRange = {}; ///< ranges of this name are steps, see findSteps(); their numbers are left out
    unsigned threads = 0;       ///< 0: one per core
    std::function<void(double share)> progress = {}; ///< called on any of the threads, one at a time
};
/// The calls on host threads, without loader workers. Step marks are one call, without their numbers. A slice that ends
/// after the slice around it counts up to that end. With CallTime::Device, device work is a leaf below the innermost
/// call around its launch, found by correlation id, and belongs to the scope if its launch does.
/// O(slices), reading only the columns that it needs.
/// @param stop  checked every few milliseconds; after a stop, the result is meaningless
CallTree callTree(const Trace& trace, const CallTreeOptions& options, const std::stop_token& stop = {});

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
