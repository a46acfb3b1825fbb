#pragma once

#include "profiler/model/trace.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainer_test {

/// What tests ask of a training's trace.
class TraceView {
public:
    explicit TraceView(std::shared_ptr<const profiler::Trace> trace);

    /// The training's own thread.
    [[nodiscard]] profiler::TrackId mainTrack() const { return m_main; }
    /// Slices of one kind on the main thread, by begin.
    [[nodiscard]] std::vector<profiler::Slice> onMain(profiler::ActivityKind kind) const;
    /// Phases of this name.
    [[nodiscard]] std::vector<profiler::Slice> phases(std::string_view name) const;
    /// Operators whose innermost phase has this name.
    [[nodiscard]] std::vector<profiler::Slice> opsIn(std::string_view phase) const;
    /// How often an operator ran in phases of this name.
    [[nodiscard]] int count(std::string_view op, std::string_view phase) const;
    /// Indices of the steps in which operators were recorded.
    [[nodiscard]] std::vector<std::int64_t> stepsWithOps() const;
    [[nodiscard]] std::vector<profiler::Track> tracks(profiler::TrackKind kind) const;
    /// Slices of kind LoaderStage with this name, over all tracks.
    [[nodiscard]] std::vector<profiler::Slice> stages(std::string_view name) const;
    [[nodiscard]] std::string metadata(std::string_view key) const;
    [[nodiscard]] std::string name(const profiler::Slice& slice) const { return std::string(m_trace->name(slice)); }
    [[nodiscard]] const profiler::Trace& trace() const { return *m_trace; }

private:
    std::shared_ptr<const profiler::Trace> m_trace;
    profiler::TrackId m_main;
};

} // namespace trainer_test
