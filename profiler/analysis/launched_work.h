#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace profiler::analysis {

/// A runtime or driver call that may launch work.
struct LaunchCall {
    std::uint64_t correlation = 0;
    TimeRange range;
    SliceId slice;
};

/// The calls of a trace that carry a correlation, to find the one that launched a piece of device work.
class LaunchCalls {
public:
    /// @param stop  asked now and then; then it knows but some
    explicit LaunchCalls(const Trace& trace, const std::stop_token& stop = {});

    /// Of several with that correlation (a runtime call and the driver call in it) the one that began first; null:
    /// none is recorded. O(log n).
    [[nodiscard]] const LaunchCall* find(std::uint64_t correlation) const;
    [[nodiscard]] bool empty() const { return m_calls.empty(); }

private:
    std::vector<LaunchCall> m_calls; ///< by correlation, then begin
};

/// A kernel, copy or memset and what launched it.
struct LaunchedWork {
    TimeRange range;
    SliceId slice;
    ActivityKind kind = ActivityKind::Kernel;
    std::optional<LaunchCall> call; ///< empty: the trace does not tell
};

} // namespace profiler::analysis
