#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace profiler::formats::writers {

/// One end of an arrow, as files list it with a slice.
struct ArrowEnd {
    SliceId slice;
    FlowKind kind{};
    bool begins = false;  ///< the arrow starts at this slice
    std::uint64_t id = 0; ///< id of the arrow; unique among all kinds
};

/// All arrows of a trace, by slice. The id of a launch arrow is its correlation id if that belongs to a single piece of
/// work.
class Arrows {
public:
    explicit Arrows(const Trace& trace);
    /// The arrow ends at a slice, written to `ends`. O(log n).
    std::span<const ArrowEnd> at(const Slice& slice, std::vector<ArrowEnd>& ends) const;

private:
    std::vector<std::uint64_t> m_launched; ///< correlation ids with one call and one piece of device work, sorted
    std::vector<ArrowEnd> m_ends;          ///< ends of other arrows, by slice
};

} // namespace profiler::formats::writers
