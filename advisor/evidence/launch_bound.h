#pragma once

#include "advisor/rule.h"
#include "profiler/analysis/intervals.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>

/// Whether devices wait for the host: for its launches, which is the evidence of the rules host.bound and compile, or
/// while it is in some phases of a step.
namespace advisor {

/// Idle time caused by the host. A gap counts only if the launch queue was empty when it began: a device whose next
/// work is queued waits for something else (see queuedGaps()).
struct LaunchBound {
    double launchShare = 0; ///< share of the analysis window: idle while the host ran operators or launched work
    /// Share of the analysis window: launchShare plus idle time between two launches of a step while no event records
    /// anything, which is host time by elimination.
    double hostShare = 0;
    double unknownShare = 0;   ///< share of the analysis window: idle without an event that explains it
    double queuedShare = 0;    ///< share of the analysis window: idle although the next work was in the launch queue
    double idleShare = 0;      ///< share of the analysis window: idle for any cause
    double smallShare = 0;     ///< share of the kernels: shorter than 10 µs
    bool marksSteps = false;   ///< the trace marks steps, so it is known which launches belong together
    bool queueKnown = false;   ///< launches are recorded; false: gaps are classified by host activity alone
    double queuedGapShare = 0; ///< share of the gaps with a recorded launch: the next work was in the queue
    double queueAtStart = 0;   ///< mean number of launched kernels and copies that are waiting when one starts
    double latencyUs = 0;      ///< median launch-to-start latency
    const profiler::analysis::IdleCause* cause = nullptr; ///< "launch", or "other" if launches contribute nothing

    /// Minimum shares of the analysis window: idle because of the host, and idle because of launches. Source of the
    /// first: XProf calls 15 % of the step in kernel launches high. The second is chosen: 5 %, as in other rules.
    static constexpr double kShare = 0.15, kPart = 0.05;
    /// From this queue length on, the host is permanently ahead: remaining gaps follow a wait. Chosen: a tenth of the
    /// launches that a CUDA stream holds before a launch blocks (about 1,024, as measured by others on Volta to
    /// Hopper).
    static constexpr double kDeepQueue = 100;
    /// True if the device waits for the host long enough to matter, even if it also waits for something else.
    [[nodiscard]] bool isHostBound() const { return isBound(hostShare); }
    /// The same for operators and launches alone, if no other cause takes longer. Without steps, nothing else counts: a
    /// server that waits for requests looks like Python code at work.
    [[nodiscard]] bool byLaunches() const { return isBound(launchShare) && launchShare >= 0.5 * idleShare; }
    /// The same, and launches contribute to it.
    [[nodiscard]] bool holds() const { return marksSteps ? isHostBound() && launchShare >= kPart : byLaunches(); }
    /// True if no other cause makes the device idle as long.
    [[nodiscard]] bool isFirstCause() const { return hostShare >= 0.5 * idleShare; }
    /// True if the host is so far ahead that the device cannot be waiting for it.
    [[nodiscard]] bool isQueueDeep() const { return queueAtStart >= kDeepQueue; }
    /// True if only the filled queue shows that the device is not launch-bound.
    [[nodiscard]] bool isQueueFull() const
    {
        const double emptyQueue = hostShare + unknownShare;
        return isQueueDeep() || (emptyQueue < kShare && emptyQueue + queuedShare >= kShare);
    }

private:
    [[nodiscard]] bool isBound(double share) const { return cause && share >= kShare && !isQueueDeep(); }
};
LaunchBound launchBound(const RuleContext& c);

/// Times from the first to the last launch of a thread in each of these steps, over all threads that launch work. If a
/// device idles in such a time with an empty queue while no event records a call, an operator or a wait, it waits for
/// that thread: the thread's calls before and after are recorded, so the thread itself does not wait for the device.
/// Outside these times, an idle device may wait for anything that the trace does not record: data, files, other
/// processes.
profiler::analysis::Intervals launchingTimes(const profiler::Trace& trace,
                                             const std::vector<profiler::TimeRange>& steps);
/// Times in which a device idles because of the host without an event that shows it: the part of `other` that is
/// between launches.
profiler::analysis::Intervals unrecordedHostTime(const RuleContext& c, const profiler::analysis::Intervals& other);
/// For each steady-state step, time in µs that devices idle because of the host, recorded or by elimination; mean over
/// devices.
std::vector<double> idleForHost(const RuleContext& c);

/// "Cannot tell" if there are neither steps nor enough kernels: what a program does once, such as starting up, is not
/// what its device usually waits for.
std::optional<Advice> withoutEnoughKernels(const RuleContext& c, const LaunchBound& bound);
/// The "silent" verdict of a rule if the launch queue rules the finding out, with the figures of the queue.
Advice silentBecauseOfQueue(const LaunchBound& bound);

/// True if host activity other than step marks is recorded: calls, operators or phases.
bool recordsHost(const profiler::Trace& trace);
/// Share of the analysis window's kernels that CUDA graph launches ran, many per launch, [0, 1].
double graphShare(const RuleContext& c);
/// True if the program captures CUDA graphs during the recording.
bool capturesGraphs(const profiler::Trace& trace);
/// True if PyTorch compiled part of the program, according to its ranges.
bool isCompiled(const profiler::Trace& trace);

/// The longest gaps of a cause, at most ten, as evidence on the device's busiest stream.
std::vector<Evidence> longestGaps(const RuleContext& c, const profiler::analysis::IdleCause& cause);

/// Cost of these phases on a GPU in µs per steady-state step, or for the whole window if there are no steps: device
/// work launched by calls in these phases, plus the time in which the devices that they use wait for the host while it
/// is in these phases. Such waits outside of the phases count as well, up to the time that the host spends in the
/// phases, because a host that launches late stays late. Other ranks in the same trace are excluded.
/// @param phases names of profiler::phase
/// @return no value if the trace does not record what was launched in these phases
std::optional<double> deviceUsOfPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

/// Time in µs per steady-state step, or in the whole window if there are no steps, in which devices wait for the host
/// while it is in these phases; mean over devices. For traces that do not record what was launched in the phases.
double idleUsInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

/// Times in which the host was in these phases during steady-state steps, over all of its threads; other ranks are
/// excluded.
profiler::analysis::Intervals hostInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases);

/// The trace is of PyTorch's profiler and contains operators. Recording them takes CPU time: without the profiler, the
/// host launches faster and the device waits less.
bool slowedByProfiler(const RuleContext& c);
/// The caveat of findings about the speed of the host in such a trace.
profiler::Message profilerSlowsHost();

} // namespace advisor
