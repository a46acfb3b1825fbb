#pragma once

#include "advisor/rule.h"

#include <functional>
#include <optional>
#include <string_view>
#include <unordered_set>

/// Savings from replays of the trace with some work changed: work that is removed, or kernels that get faster, whose
/// saving is limited to their part of the critical path.
namespace advisor {

using SliceSet = std::unordered_set<profiler::SliceId>;

/// Chosen host slices with the calls and waits in them, and the device work that these calls launched. A what-if
/// removes or shortens this work. The replay graph must be cut at the chosen slices, see savingByReplay().
class ChosenWork {
public:
    /// @param chosen operators and phases of host threads other than loader workers. O(slices)
    ChosenWork(const profiler::Trace& trace, const SliceSet& chosen);

    /// True for a piece of host time in one of the slices.
    [[nodiscard]] bool onHost(const profiler::analysis::ReplayWork& work) const;
    /// True for device work that one of the slices launched.
    [[nodiscard]] bool onDevice(const profiler::analysis::ReplayWork& work) const;

private:
    SliceSet m_host, m_device;
};

/// Slices of host threads other than loader workers, chosen by name and by where they begin.
/// @param fits whether slices of this name are chosen; called once per name
/// @param phase the phase in which a slice has to begin, on any thread; empty: anywhere
SliceSet operatorsIn(const profiler::Trace& trace, bool (*fits)(std::string_view name), std::string_view phase);

// Minimum share of device work with a recorded launch: below it, a replay would reflect only the host.
inline constexpr double kLinkedForReplay = 0.9;

/// The saving per step from two replays of the trace with some work changed, with the least and the greatest effect
/// that the change may have, combined by meanOverSteps(). No value without steady steps, or if too few launches are
/// recorded to replay the device.
std::optional<Saving> savingByReplay(const RuleContext& c, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);
/// The same for changes of host time within slices at which the graph is not cut by default, such as operators.
/// @param cut these slices; a separate graph is built
std::optional<Saving> savingByReplay(const RuleContext& c, const SliceSet& cut, const profiler::analysis::WhatIf& least,
                                     const profiler::analysis::WhatIf& most);

/// The mean saving over the steady steps from a replay with some work changed, as an upper bound: `most` is the
/// greatest effect that the change may have.
std::optional<Saving> boundByReplay(const RuleContext& c, const profiler::analysis::WhatIf& most);

// The saving of faster kernels is limited to their part of the critical path.

/// Upper bound of the saving per step if some kernels get faster.
struct KernelBound {
    double usPerStep = 0;  ///< 0 without steps
    double share = 0;      ///< share of the analysis window, [0, 1]
    double busyShare = 0;  ///< share of the analysis window in which these kernels run, [0, 1]
    bool replayed = false; ///< false: too few launches are recorded for a replay, so the bound is the kernels' time

    /// Below this share of a step, no experiment can distinguish a saving from noise: "pays" requires more than 1 %.
    static constexpr double kLeastShare = 0.01;
    /// Kernels that run for at least this share of the time are reported even if other work hides them now, with the
    /// bound that says so: they become the bottleneck next. Chosen: 10 %; a device that mostly waits is far below.
    static constexpr double kBusy = 0.1;
    [[nodiscard]] bool matters() const { return delaysStep() || busyShare >= kBusy; }
    /// True if the step would get shorter.
    [[nodiscard]] bool delaysStep() const { return share >= kLeastShare; }
};

/// Replays the trace with the kernels shortened: the saving is the time by which they delay the step. A device that
/// waits for the host most of the step yields almost nothing, a busy device the kernels' whole time.
/// @param left remaining share of a kernel's duration, by its name: 0 removes the kernel, 1 keeps it. Called once per
/// name
KernelBound boundByKernels(const RuleContext& c, const std::function<double(std::string_view kernel)>& left);
/// The same for chosen kernels, which are removed.
KernelBound boundByKernels(const RuleContext& c, const SliceSet& kernels);

/// True for a matmul or convolution in FP32 without tensor cores, according to the kernel's name.
bool isFullPrecisionProduct(std::string_view kernel);

/// The "silent" verdict if the kernels delay too little of the step.
Advice offTheCriticalPath(const KernelBound& bound);
/// Sets the saving of a finding about kernels: the bound, or without steps the reason why there is none.
void setBound(Advice& advice, const RuleContext& c, const KernelBound& bound);

} // namespace advisor
