#pragma once

#include "profiler/model/name_search.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

// How the timeline finds slices: the next one on a lane, the ends of flows, and the matches of a search for names.
namespace app {

// The cost of these three does not depend on the number of slices in the trace.

/// The next slice of the same track and depth.
std::optional<profiler::Slice> nextSlice(const profiler::Trace& trace, const profiler::Slice& from);
/// The previous slice of the same track and depth.
std::optional<profiler::Slice> previousSlice(const profiler::Trace& trace, const profiler::Slice& from);
/// The slice at a position, or the nearest one within `reach` on either side.
std::optional<profiler::Slice> nearestSlice(const profiler::Trace& trace, profiler::TrackId track, int depth,
                                            profiler::TraceTime time, profiler::Nanoseconds reach);

/// An arrow of the timeline.
struct FlowArrow {
    enum class Kind {
        Call, ///< from an operator to a runtime call inside it: nesting, not a flow of the trace
        Launch,
        ForwardBackward,
        Async,
    };
    Kind kind = Kind::Launch;
    profiler::Slice from, to;
};

/// All predecessors and successors of a slice: operator → runtime call → device work, forward → backward. The cost is
/// proportional to the number of arrows, which is at most `most`.
std::vector<FlowArrow> flowsAround(const profiler::Trace& trace, const profiler::Slice& slice, std::size_t most = 200);

/// The next (or previous) slice along the flow: operator, first runtime call, device work; without a runtime call, the
/// backward of the operator.
std::optional<profiler::Slice> alongFlow(const profiler::Trace& trace, const profiler::Slice& slice, bool forward);
/// From an operator, or any work that it launched, to the other pass: from forward to backward or vice versa.
std::optional<profiler::Slice> otherPass(const profiler::Trace& trace, const profiler::Slice& slice);

/// Arrows that start in a part of the trace.
struct FlowsInView {
    std::vector<FlowArrow> arrows;
    bool tooMany = false; ///< too many to distinguish, so none are returned
};

/// Caches arrows by their start slice: most slices stay in view from frame to frame, and finding the other end of an
/// arrow requires a search of the whole trace.
class FlowMemory {
public:
    /// Arrows that start at `slice`. Valid until the next call.
    const std::vector<FlowArrow>& beginningAt(const std::shared_ptr<const profiler::Trace>& trace,
                                              const profiler::Slice& slice);

private:
    std::shared_ptr<const profiler::Trace> m_trace;
    std::unordered_map<std::uint64_t, std::vector<FlowArrow>> m_arrows; ///< by track and ordinal
};

FlowsInView flowsInView(const std::shared_ptr<const profiler::Trace>& trace, std::span<const profiler::TrackId> tracks,
                        profiler::TimeRange window, FlowMemory& memory);

/// The matches of a search in a trace. Immutable, created in the background.
struct FindHits {
    std::shared_ptr<const profiler::NameSearch> search; ///< never null
    std::uint64_t count = 0;
    profiler::TimeRange range;        ///< range covered by `marks`
    std::vector<std::uint32_t> marks; ///< number of matches that start in each of equally many spans of `range`, over
                                      ///< all tracks

    [[nodiscard]] bool matches(profiler::StringId name) const { return search->matches(name); }
};

} // namespace app
