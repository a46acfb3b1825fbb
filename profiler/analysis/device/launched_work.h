#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace profiler::analysis {

/// A runtime or driver call that can launch work.
struct LaunchCall {
    std::uint64_t correlation = 0;
    TimeRange range;
    SliceId slice;
};

/// The calls of a trace with a correlation id, to find the one that launched a piece of device work.
class LaunchCalls {
public:
    /// @param stop  checked periodically; after a stop, only some calls are known
    explicit LaunchCalls(const Trace& trace, const std::stop_token& stop = {});

    /// The call with this correlation id. If there are several (a runtime call and the driver call inside it), the one
    /// that started first; null if none is recorded. O(log n).
    [[nodiscard]] const LaunchCall* find(std::uint64_t correlation) const;
    [[nodiscard]] bool empty() const { return m_calls.empty(); }

private:
    std::vector<LaunchCall> m_calls; ///< by correlation id, then start
};

/// A kernel, copy or memset and the call that launched it.
struct LaunchedWork {
    TimeRange range;
    SliceId slice;
    ActivityKind kind = ActivityKind::Kernel;
    std::optional<LaunchCall> call; ///< empty: not recorded
};

} // namespace profiler::analysis
