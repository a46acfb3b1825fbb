#pragma once

#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace app {

/// An arrow of the timeline.
struct FlowArrow {
    enum class Kind {
        Call, ///< an operator to a runtime call that it makes: nesting, not a flow of the trace
        Launch,
        ForwardBackward,
        Async,
    };
    Kind kind = Kind::Launch;
    profiler::Slice from, to;
};

/// What leads to a slice and what it leads to, as far as it goes: operator → runtime call → device work, forward →
/// backward. Costs by the arrows that it finds, which are at most `most`.
std::vector<FlowArrow> flowsAround(const profiler::Trace& trace, const profiler::Slice& slice, std::size_t most = 200);

/// The next slice along the arrows (or the one before): operator, first runtime call, device work; without a call the
/// operator's backward.
std::optional<profiler::Slice> alongFlow(const profiler::Trace& trace, const profiler::Slice& slice, bool forward);
/// From an operator or anything that it launched to the other pass: forward to backward or back.
std::optional<profiler::Slice> otherPass(const profiler::Trace& trace, const profiler::Slice& slice);

/// Arrows that begin in a part of the trace.
struct FlowsInView {
    std::vector<FlowArrow> arrows;
    bool tooMany = false; ///< more than a picture can tell apart: none is given
};

/// Arrows by the slice that they begin at: from frame to frame most slices stay in view, and to find the other end of
/// an arrow means to look through the whole trace.
class FlowMemory {
public:
    /// Those that begin at `slice`. Valid until the next call.
    const std::vector<FlowArrow>& beginningAt(const std::shared_ptr<const profiler::Trace>& trace,
                                              const profiler::Slice& slice);

private:
    std::shared_ptr<const profiler::Trace> m_trace;
    std::unordered_map<std::uint64_t, std::vector<FlowArrow>> m_arrows; ///< by track and ordinal
};

FlowsInView flowsInView(const std::shared_ptr<const profiler::Trace>& trace, std::span<const profiler::TrackId> tracks,
                        profiler::TimeRange window, FlowMemory& memory);

} // namespace app
