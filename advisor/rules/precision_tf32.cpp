#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/model/message.h"

#include <string_view>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;
using profiler::message;

constexpr std::string_view kKey = "precision.tf32";
// Compute capability 8.0. Source: the CUDA programming guide's table of features by compute capability.
constexpr int kFirstWithTf32 = 80;
// Minimum share of kernel time: below it, lower precision has no measurable effect.
constexpr double kMinimumShare = 0.05;

Advice check(const RuleContext& c)
{
    if (setting(c, kKey) == "true")
        return silent(message<"precision.tf32.on", "TF32 is already on.">());
    if (auto advice =
            withoutDeviceWork(c, message<"precision.tf32.cpu", "The run used only the CPU, which has no TF32.">()))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    if (work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    if (ranOnAmd(c))
        return silent(message<"precision.tf32.amd", "TF32 is an NVIDIA format, and this is an AMD GPU.">());
    const std::optional<int> capability = computeCapability(c);
    if (capability && *capability < kFirstWithTf32)
        return silent(
            message<"precision.tf32.too_old", "The GPU (sm_{capability}) has no TF32, which needs sm_80 or newer.">(
                {{"capability", *capability}}));
    const double share = work.share(work.fullPrecisionTime);
    if (share < kMinimumShare)
        return silent(message<"precision.tf32.little_fp32", "FP32 matmuls take only {share} of kernel time.">(
            {{"share", share, shareText(share)}}));
    if (!capability)
        return cannotTell(message<"precision.tf32.no_capability",
                                  "The trace does not record the GPU model: TF32 needs sm_80 or newer.">(),
                          Need::Device);
    const KernelBound bound =
        boundByKernels(c, [](std::string_view kernel) { return isFullPrecisionProduct(kernel) ? 0.0 : 1.0; });
    if (!bound.matters())
        return offTheCriticalPath(bound);
    Advice advice =
        fires(message<"precision.tf32.fp32", "FP32 matmuls take {share} of kernel time on a GPU that supports TF32.">(
            {{"share", share, shareText(share)}}));
    setBound(advice, c, bound);
    advice.caveats = {
        message<"precision.tf32.mantissa", "TF32 has a 10-bit mantissa: compare the loss.">(),
        message<"precision.tf32.convolutions", "Convolutions use TF32 by default, so this concerns matmuls.">()};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, work.fullPrecision);
    return advice;
}

} // namespace

Rule precision_tf32()
{
    return {kKey, "Matmuls do not use TF32", check, Needs::Steps, TimePart::Kernels};
}

} // namespace advisor::rules
