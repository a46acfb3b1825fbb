#pragma once

#include "advisor/rule.h"

#include <cstddef>

/// Whether devices wait for the host to launch work: the evidence of the rules host.bound and compile.
namespace advisor {

/// Idleness that the host causes. A gap counts only where the launch queue was empty when it began: a device whose next
/// work is queued waits for something else (see queuedGaps()).
struct LaunchBound {
    double launchShare = 0; ///< of the judged window: idle while the host ran operators or launched
    /// Of the judged window: idle for that, or between two launches of a step while no event records anything, which is
    /// the host's time by elimination.
    double hostShare = 0;
    double unknownShare = 0;   ///< of the judged window: idle while no event says why
    double queuedShare = 0;    ///< of the judged window: idle although the next work was in the launch queue
    double idleShare = 0;      ///< of the judged window: idle for any cause
    double smallShare = 0;     ///< of the kernels: under 10 µs
    bool marksSteps = false;   ///< the trace does: then it is known which launches belong together
    bool queueKnown = false;   ///< launches are recorded; false: gaps count by what the host did alone
    double queuedGapShare = 0; ///< of the gaps whose launch is recorded: the next work was in the queue
    double queueAtStart = 0;   ///< mean number of launched kernels and copies that wait when one starts
    double latencyUs = 0;      ///< median from a launch to the start of its work
    const profiler::analysis::IdleCause* cause = nullptr; ///< "launch", or "other" where launches have no part in it

    /// Of the judged window, idle for the host. Source of the first: XProf calls 15 % of the step in kernel launches
    /// high. The second is the launches' own part of it. Chosen: a twentieth, what the other rules call worth a change.
    static constexpr double kShare = 0.15, kPart = 0.05;
    /// From here on the host is ahead for good: what gaps there are follow a wait. Chosen: a tenth of the launches that
    /// a CUDA stream holds before a launch blocks (about 1,024, measured by others on Volta to Hopper).
    static constexpr double kDeepQueue = 100;
    /// It waits for the host long enough to matter, even if it waits for something else as well.
    [[nodiscard]] bool byTheHost() const { return isBound(hostShare); }
    /// The same by operators and launches alone, and for nothing else as long. Without steps nothing else counts: a
    /// server that waits for requests looks like Python at work.
    [[nodiscard]] bool byLaunches() const { return isBound(launchShare) && launchShare >= 0.5 * idleShare; }
    /// The same, and launches have their part in it.
    [[nodiscard]] bool holds() const { return marksSteps ? byTheHost() && launchShare >= kPart : byLaunches(); }
    /// No other cause has the device idle as long.
    [[nodiscard]] bool isFirstCause() const { return hostShare >= 0.5 * idleShare; }
    /// The host is so far ahead that it cannot be what the device waits for.
    [[nodiscard]] bool isQueueDeep() const { return queueAtStart >= kDeepQueue; }
    /// What the host did would look like a launch-bound device, were the queue not full.
    [[nodiscard]] bool isQueueWhy() const
    {
        const double emptyQueue = hostShare + unknownShare;
        return isQueueDeep() || (emptyQueue < kShare && emptyQueue + queuedShare >= kShare);
    }

private:
    [[nodiscard]] bool isBound(double share) const { return cause && share >= kShare && !isQueueDeep(); }
};
LaunchBound launchBound(const RuleContext& c);

/// Times from the first to the last launch of a thread in each of these steps, over all threads that launch. A device
/// that idles there with an empty queue, while no event records a call, an operator or a wait, waits for that thread to
/// go on: the thread's calls are recorded before and after, so that it waits for nothing on the device. Outside of
/// them, an idle device may wait for anything that the trace does not record: data, files, other processes.
profiler::analysis::Intervals launchingTimes(const profiler::Trace& trace,
                                             const std::vector<profiler::TimeRange>& steps);
/// When a device idles for the host without an event that says so: its "other" time between launches.
profiler::analysis::Intervals unrecordedHostTime(const RuleContext& c, const profiler::analysis::Intervals& other);
/// For each judged step, µs that devices idle in it for the host, recorded or by elimination; a mean over devices.
std::vector<double> idleForTheHost(const RuleContext& c);

/// Silence of a rule for which the launch queue speaks, with the queue's figures.
Advice silentForTheQueue(const LaunchBound& bound);

/// What the host does beside its steps' marks is recorded: calls, operators or phases.
bool recordsTheHost(const profiler::Trace& trace);
/// Share of the judged window's kernels that launches of a CUDA graph ran, many with each, [0, 1].
double graphShare(const RuleContext& c);
/// The program captures its work into CUDA graphs while it is recorded.
bool capturesGraphs(const profiler::Trace& trace);
/// PyTorch compiled a part of the program: its ranges say so.
bool isCompiled(const profiler::Trace& trace);

/// The longest gaps of a cause, at most ten, as evidence on the stream with the most work of its device.
std::vector<Evidence> longestGaps(const RuleContext& c, const profiler::analysis::IdleCause& cause);

} // namespace advisor
