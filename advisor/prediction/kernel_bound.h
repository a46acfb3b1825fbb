#pragma once

#include "advisor/evidence/chosen_work.h"
#include "advisor/rule.h"

#include <functional>
#include <string_view>

/// The saving of faster kernels is limited to their part of the critical path.
namespace advisor {

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
void promise(Advice& advice, const RuleContext& c, const KernelBound& bound);

} // namespace advisor
