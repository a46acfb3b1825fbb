#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace profiler::formats::writers {

/// One end of an arrow, as a file lists it with a slice.
struct ArrowEnd {
    SliceId slice;
    FlowKind kind{};
    bool begins = false;  ///< the arrow leaves this slice
    std::uint64_t id = 0; ///< of the arrow; unique among all kinds
};

/// All arrows of a trace, by the slices that they touch. A launch's id is its correlation, where that is of one piece
/// of work.
class Arrows {
public:
    explicit Arrows(const Trace& trace);
    /// Ends at a slice, put into `ends`. O(log n).
    std::span<const ArrowEnd> at(const Slice& slice, std::vector<ArrowEnd>& ends) const;

private:
    std::vector<std::uint64_t> m_launched; ///< correlations that have a call and one piece of device work, sorted
    std::vector<ArrowEnd> m_ends;          ///< of other arrows, by slice
};

} // namespace profiler::formats::writers
