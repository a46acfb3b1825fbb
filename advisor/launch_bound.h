#pragma once

#include "advisor/rule.h"

#include <cstddef>

namespace advisor {

/// Whether the devices wait for the host to launch work.
struct LaunchBound {
    double launchShare = 0; ///< of the judged window: idle while the host ran operators or launched
    double idleShare = 0;   ///< of the judged window: idle for whatever cause
    double smallShare = 0;  ///< of the kernels: under 10 µs
    const profiler::analysis::IdleCause* cause = nullptr; ///< "launch"; null where there is none

    /// Idle for the launches' sake long enough to matter, and for nothing else as long.
    /// Source of the share: XProf calls 15 % of the step in kernel launches high.
    [[nodiscard]] bool holds() const { return launchShare >= 0.15 && launchShare >= 0.5 * idleShare; }
};
LaunchBound launchBound(const Case& c);

/// The longest gaps of a cause, at most ten, as evidence on the stream with the most work of its device.
std::vector<Evidence> longestGaps(const Case& c, const profiler::analysis::IdleCause& cause);

} // namespace advisor
