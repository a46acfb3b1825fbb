#pragma once

#include "profiler/model/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

/// Arrows between slices: those that a file describes, and (in the implementation of Trace::flowsOf) those that follow
/// from correlation ids and sequence numbers.
namespace profiler {

/// An arrow as a file describes it: by times.
struct ExplicitFlow {
    FlowKind kind{};
    FlowEnd from, to;
};

/// Arrows that a file describes, indexed by both of their ends.
class ExplicitFlows {
public:
    ExplicitFlows() = default;
    /// Finds the slices at both ends in `trace`; arrows with an end at which there is no slice are dropped. O(slices +
    /// arrows × log arrows) in tracks whose blocks are in order. If it was stopped, it contains only some of the
    /// arrows.
    /// @param known    further arrows whose slices are already known
    /// @param threads  how many threads may work, including the calling one
    ExplicitFlows(const Trace& trace, std::span<const ExplicitFlow> flows, std::vector<Flow> known, unsigned threads,
                  const std::stop_token& stop);

    /// Adds the arrows of a slice to `flows`, skipping those already in it. O(log n).
    void addTo(std::vector<Flow>& flows, SliceId id) const;
    /// Every arrow once, sorted by its start.
    [[nodiscard]] std::span<const Flow> all() const { return m_flows; }
    /// Number of arrows dropped because there is no slice at their start or end.
    [[nodiscard]] std::size_t unbound() const { return m_unbound; }
    [[nodiscard]] std::size_t bytes() const;

private:
    std::vector<Flow> m_flows;          ///< sorted by `from`
    std::vector<std::uint32_t> m_byEnd; ///< positions in m_flows, sorted by `to`
    std::size_t m_unbound = 0;
};

} // namespace profiler
