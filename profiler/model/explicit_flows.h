#pragma once

#include "profiler/model/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace profiler {

/// An arrow as a file gives it: by times.
struct ExplicitFlow {
    FlowKind kind{};
    FlowEnd from, to;
};

/// Arrows that a file gives, found from both of their ends.
class ExplicitFlows {
public:
    ExplicitFlows() = default;
    /// Finds the slices of both ends in `trace`; arrows with an end where no slice is are left out. O(slices + arrows ×
    /// log arrows) in tracks whose blocks are in order. Holds a part of them only when it was stopped.
    /// @param known    more of them
    /// @param threads  how many may work, this one included
    ExplicitFlows(const Trace& trace, std::span<const ExplicitFlow> flows, std::vector<Flow> known, unsigned threads,
               const std::stop_token& stop);

    /// Adds the arrows of a slice to those known of it, each once. O(log n).
    void addTo(std::vector<Flow>& flows, SliceId id) const;
    /// Every arrow once, by its begin.
    [[nodiscard]] std::span<const Flow> all() const { return m_flows; }
    /// Arrows that were left out, since no slice is where they begin or end.
    [[nodiscard]] std::size_t unbound() const { return m_unbound; }
    [[nodiscard]] std::size_t bytes() const;

private:
    std::vector<Flow> m_flows;          ///< by from
    std::vector<std::uint32_t> m_byEnd; ///< positions in m_flows, by to
    std::size_t m_unbound = 0;
};

} // namespace profiler
