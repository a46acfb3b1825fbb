#pragma once

#include "advisor/chosen_work.h"
#include "advisor/rule.h"

#include <functional>
#include <string_view>

/// What faster kernels can save: never more than their part of the critical path.
namespace advisor {

/// A bound on what a step gets shorter when some kernels get faster.
struct KernelBound {
    double usPerStep = 0; ///< 0 without steps
    double share = 0;     ///< of the judged time, [0, 1]
    double busyShare = 0; ///< of the judged time in which these kernels run, [0, 1]
    bool replayed =
        false; ///< false: too few launches are recorded for a replay, and the bound is the kernels' own time

    /// Below this share of a step no experiment tells a saving from noise: "pays" must clear one percent.
    static constexpr double kLeastShare = 0.01;
    /// Kernels that run this much of the time are reported although something else hides them now, with the bound that
    /// says so: they are what comes next. Chosen: a tenth, where a device that only waits is far below.
    static constexpr double kBusy = 0.1;
    [[nodiscard]] bool matters() const { return holdsUp() || busyShare >= kBusy; }
    /// The step would get shorter.
    [[nodiscard]] bool holdsUp() const { return share >= kLeastShare; }
};

/// Replays the trace with the kernels shortened: what falls away is what they hold up. A device that waits for the
/// host most of the step gives next to nothing, a busy one all of the kernels' time.
/// @param left  of the duration of a kernel, by its name: 0 removes it, 1 leaves it as it is. Asked once per name
KernelBound boundByKernels(const RuleContext& c, const std::function<double(std::string_view kernel)>& left);
/// The same for chosen kernels, which vanish.
KernelBound boundByKernels(const RuleContext& c, const SliceSet& kernels);

/// A matrix product or convolution in FP32 without tensor cores, by the kernel's name.
bool isFullPrecisionProduct(std::string_view kernel);

/// Silence of a rule whose kernels hold up too little of the step.
Advice offTheCriticalPath(const KernelBound& bound);
/// Sets what a finding about kernels promises: the bound, or why there is none without steps.
void promise(Advice& advice, const RuleContext& c, const KernelBound& bound);

} // namespace advisor
