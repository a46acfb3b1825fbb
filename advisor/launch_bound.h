#pragma once

#include "advisor/rule.h"

#include <cstddef>

namespace advisor {

/// Whether the devices wait for the host to launch work.
struct LaunchBound {
    double launchShare = 0; ///< of the judged window: idle while the host ran operators or launched
    double hostShare = 0; ///< of the judged window: idle for that, or while the host did what no event records (Python)
    double idleShare = 0; ///< of the judged window: idle for whatever cause
    double smallShare = 0;   ///< of the kernels: under 10 µs
    bool marksSteps = false; ///< the trace does: what no event records goes on within a step, so it is the host's work
    const profiler::analysis::IdleCause* cause = nullptr; ///< "launch", or "other" where launches have no part in it

    static constexpr double kShare = 0.15, kPart = 0.05;
    /// Idle for the host's sake long enough to matter, whatever else it idles for.
    /// Source of the share: XProf calls 15 % of the step in kernel launches high.
    [[nodiscard]] bool byTheHost() const { return isBound(hostShare); }
    /// The same by operators and launches alone, and for nothing else as long. Without steps nothing else counts: a
    /// server that waits for requests looks like Python at work.
    [[nodiscard]] bool byLaunches() const { return isBound(launchShare) && launchShare >= 0.5 * idleShare; }
    /// The same, and launches have their part in it.
    [[nodiscard]] bool holds() const { return marksSteps ? byTheHost() && launchShare >= kPart : byLaunches(); }
    /// No other cause has the device idle as long.
    [[nodiscard]] bool isFirstCause() const { return hostShare >= 0.5 * idleShare; }

private:
    [[nodiscard]] bool isBound(double share) const { return cause && share >= kShare; }
};
LaunchBound launchBound(const Case& c);

/// What the host does beside its steps' marks is recorded: calls, operators or phases.
bool recordsTheHost(const profiler::Trace& trace);
/// Share of the judged window's kernels that launches of a CUDA graph ran, many with each, [0, 1].
double graphShare(const Case& c);
/// PyTorch compiled a part of the program: its ranges say so.
bool isCompiled(const profiler::Trace& trace);

/// The longest gaps of a cause, at most ten, as evidence on the stream with the most work of its device.
std::vector<Evidence> longestGaps(const Case& c, const profiler::analysis::IdleCause& cause);

} // namespace advisor
