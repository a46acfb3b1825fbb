#pragma once

#include "profiler/analysis/call_tree/call_tree.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Views of a call tree, derived without the trace. Each is O(nodes × depth) at most.
namespace profiler::analysis {

/// The callers of each call: the children of the root are the names by self time, and the children of a node are its
/// callers. Total: the self time of the top name that was spent on this path. Self: the part without further callers.
/// @param stop  checked periodically; after a stop, the result is meaningless
CallTree bottomUp(const CallTree& tree, const std::stop_token& stop = {});

/// The callers and callees of one name, over all its calls. A call inside another one of the same name is counted only
/// as its callee, so recursion adds nothing twice.
struct Sandwich {
    CallTree callers; ///< as bottomUp(): the only child of the root is the name, with its total time
    CallTree callees; ///< the only child of the root is the name
};
Sandwich sandwich(const CallTree& tree, std::string_view name);

/// One name over all its paths.
struct CallTotal {
    std::string_view name; ///< valid as long as the tree
    ActivityKind kind = ActivityKind::Other;
    Nanoseconds self{}, total{}; ///< a call inside another one of the same name adds nothing to the total
    std::int64_t calls = 0;
    SliceId longest;
    Nanoseconds longestTime{-1};
};
/// All names, by self time, largest first.
std::vector<CallTotal> callTotals(const CallTree& tree);

/// A path in two trees.
struct CallChange {
    std::uint32_t parent = 0, end = 1, name = 0; ///< as in CallNode
    ActivityKind kind = ActivityKind::Other;
    double selfA = 0, selfB = 0, totalA = 0, totalB = 0; ///< ns; per step if CallDifference::perStep
    double callsA = 0, callsB = 0;
    SliceId longestA, longestB; ///< valid if the times below are not negative
    Nanoseconds longestTimeA{-1}, longestTimeB{-1};

    [[nodiscard]] double change() const { return totalB - totalA; }
    /// Width in a graph that shows vanished and new paths: the mean of both.
    [[nodiscard]] double weight() const { return (totalA + totalB) / 2; }
};

/// Two trees over each other: paths with the same names are the same. Preorder as in CallTree, largest weight first.
struct CallDifference {
    std::vector<std::string> names;
    std::vector<CallChange> nodes = std::vector<CallChange>(1);
    bool perStep = false; ///< both trees cover steps

    [[nodiscard]] std::string_view name(const CallChange& node) const { return names[node.name]; }
};
CallDifference difference(const CallTree& a, const CallTree& b);

/// Brendan Gregg's collapsed stacks, as flamegraph.pl, speedscope and others read them: one line for each path with
/// self time, "outer;inner 1234", in µs (rounded; paths below half a microsecond are left out). Semicolons in names
/// become colons, and line breaks become blanks.
std::string collapsedStacks(const CallTree& tree);

} // namespace profiler::analysis
