#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

constexpr std::string_view kKey = "precision.tf32";
constexpr int kFirstWithTf32 = 80;
// Of kernel time: below, fewer digits buy nothing that can be measured.
constexpr double kWorthTrying = 0.05;

Advice check(const Case& c)
{
    if (setting(c, kKey) == "true")
        return silent("TF32 is on already.");
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU, which has no TF32."))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    if (work.all.count == 0)
        return cannotTell("No kernels were recorded.");
    if (ranOnAmd(c))
        return silent("The device is AMD's: TF32 is a format of NVIDIA's.");
    const std::optional<int> capability = computeCapability(c);
    if (capability && *capability < kFirstWithTf32)
        return silent(fmt::format("The device (sm_{}) has no TF32: it came with sm_80.", *capability));
    const double share = work.share(work.fullPrecisionTime);
    if (share < kWorthTrying)
        return silent(fmt::format("Matrix products in full FP32 are only {} of kernel time.", shareText(share)));
    if (!capability)
        return cannotTell("The trace does not say which GPU it was: TF32 needs sm_80 or newer.");
    Advice advice = fires(
        fmt::format("{} of kernel time are matrix products in full FP32 on a device that has TF32.", shareText(share)));
    advice.concerns = shareOfTime(c, share);
    advice.whyNoPrediction = "Other precision runs other kernels, whose times are not in this trace: measure it.";
    advice.caveats = {"TF32 keeps about ten bits of the mantissa: compare the loss.",
                      "Convolutions use it by default; what is left are matrix products."};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, work.fullPrecision);
    return advice;
}

} // namespace

Rule precision_tf32()
{
    return {kKey, "Matrix products do not use TF32", check};
}

} // namespace advisor::rules
