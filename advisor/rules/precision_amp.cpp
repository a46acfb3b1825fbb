#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/model/message.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

namespace analysis = profiler::analysis;
using profiler::message;

constexpr std::string_view kKey = "precision.amp";
// Minimum share of the work: below 20 %, casting tensors costs about as much as faster matmuls gain.
constexpr double kMinimumShare = 0.2;

// Minimum share of a CPU's work. The casts around matmuls and 16-bit types themselves slow its other operators down. On
// a CPU with AVX512_BF16, a GPT with 57 % and a vision transformer with 54 % in matmuls became 1.6 and 2 times slower,
// convolutional networks with a third were neither faster nor slower, and an MLP with 83 % became 2.6 times faster.
constexpr double kPaysOnCpu = 0.8;

// Older devices multiply 16-bit numbers no faster than 32-bit numbers.
constexpr int kFirstWithTensorCores = 70;
// Volta and Turing multiply FP16 on their tensor cores, but have no units for BF16. Source: the CUDA programming
// guide's table of features by compute capability.
constexpr int kFirstWithBf16 = 80;

/// Whether the CPU multiplies BF16 in hardware; no value if the trace does not record it.
std::optional<bool> cpuHasBf16(const profiler::Trace& trace)
{
    const std::string_view flags = metadata(trace, "host.cpu_flags");
    if (flags.empty())
        return std::nullopt;
    constexpr std::array<std::string_view, 4> kFlags = {"avx512_bf16", "amx_bf16", "avx_ne_convert", "bf16"};
    return std::any_of(kFlags.begin(), kFlags.end(),
                       [&](std::string_view flag) { return flags.find(flag) != flags.npos; });
}

/// Share of full-precision matmuls and convolutions: of kernel time if kernels are recorded, else of operator time.
WorkShare fullPrecisionProducts(const RuleContext& c)
{
    const analysis::KernelWork& work = c.facts.device.work;
    if (work.all.count > 0)
        return {.recorded = true, .share = work.share(work.fullPrecisionTime), .longest = work.fullPrecision};
    return workShare(c, isMatrixProduct);
}

/// The minimum that autocast leaves of a kernel: full-precision matmuls and convolutions may disappear; half of the
/// bytes of other, memory-bound kernels remain; communication and tensor-core kernels stay.
double leftByAutocast(std::string_view kernel)
{
    if (isFullPrecisionProduct(kernel))
        return 0;
    const analysis::KernelClass of = analysis::kernelClass(kernel);
    return analysis::isProduct(of) || of == analysis::KernelClass::Communication ? 1 : 0.5;
}

/// The reason why autocast is ruled out or cannot be judged; no value if it may help.
std::optional<Advice> hindrance(const RuleContext& c)
{
    if (hasDeviceWork(c.trace)) {
        const std::optional<int> capability = computeCapability(c);
        if (capability && *capability < kFirstWithTensorCores)
            return silent(message<"precision.amp.no_tensor_cores",
                                  "The GPU has no tensor cores: FP16 and BF16 are no faster there.">());
        return std::nullopt;
    }
    if (!c.config)
        return cannotTell(
            message<"precision.amp.not_recorded", "The trace does not record the precision of operators.">(),
            Need::Shapes);
    const std::optional<bool> bf16 = cpuHasBf16(c.trace);
    if (!bf16)
        return cannotTell(
            message<"precision.amp.no_cpu_flags",
                    "The trace does not record whether the CPU has BF16 instructions (host.cpu_flags).">(),
            Need::Program);
    if (!*bf16)
        return silent(message<"precision.amp.cpu_without_bf16",
                              "The CPU has no BF16 instructions: it would emulate them, which is slower.">());
    return std::nullopt;
}

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::amp] != "off")
        return silent(message<"precision.amp.on", "Mixed precision is already on.">());
    if (auto advice = withoutSteadySteps(c); advice && c.facts.device.work.all.count == 0)
        return *advice;
    if (!hasDeviceWork(c.trace) && !ranOnCpu(c))
        return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
    const WorkShare products = fullPrecisionProducts(c);
    if (!products.recorded)
        return cannotTell(
            message<"precision.amp.no_work",
                    "Neither operators nor kernels were recorded: the share of matmuls and convolutions is unknown.">(),
            Need::Operators);
    if (products.share < kMinimumShare)
        return silent(
            message<"precision.amp.little_fp32", "Matmuls and convolutions in FP32 take only {share} of the work.">(
                {{"share", products.share, shareText(products.share)}}));
    if (auto advice = hindrance(c))
        return *advice;
    if (!hasDeviceWork(c.trace) && products.share < kPaysOnCpu)
        return cannotTell(message<"precision.amp.cpu_may_lose",
                                  "Matmuls and convolutions in FP32 take {share} of the work. On a CPU, the casts and "
                                  "the slowdown of other operators may cost more than this gains.">(
                              {{"share", products.share, shareText(products.share)}}),
                          Need::Measurement);
    Advice advice = fires(message<"precision.amp.fp32", "Matmuls and convolutions in FP32 take {share} of the work.">(
        {{"share", products.share, shareText(products.share)}}));
    if (c.facts.device.work.all.count > 0) {
        const KernelBound bound = boundByKernels(c, leftByAutocast);
        if (!bound.matters())
            return offTheCriticalPath(bound);
        setBound(advice, c, bound);
        // The bound includes everything that autocast changes; the finding is about matmuls and convolutions.
        advice.timeShare = std::min(bound.share, shareOfTime(c, products.share));
    } else {
        advice.timeShare = shareOfTime(c, products.share);
        advice.whyNoPrediction =
            message<"precision.amp.other_kernels",
                    "Another precision runs other kernels, whose times are not in this trace: measure it.">();
    }
    advice.caveats = {
        message<"precision.amp.compare_loss", "The loss must stay finite and close to the FP32 loss: compare them.">(),
        message<"precision.amp.scaling", "BF16 has the range of FP32 and needs no gradient scaling. FP16 does, and its "
                                         "skipped steps must be counted.">()};
    const std::optional<int> capability = hasDeviceWork(c.trace) ? computeCapability(c) : std::nullopt;
    const bool hasBf16 = !capability || *capability >= kFirstWithBf16;
    if (!hasBf16)
        advice.caveats.push_back(
            message<"precision.amp.no_bf16", "This GPU (compute capability {capability}) has no BF16 units: use FP16.">(
                {{"capability", fmt::format("{}.{}", *capability / 10, *capability % 10)}}));
    setToggle(advice, c, kKey, hasBf16 ? "bf16" : "fp16");
    addEvidence(advice, c.trace, products.longest);
    return advice;
}

} // namespace

Rule precision_amp()
{
    return proposing("bf16", {kKey, "Matmuls and convolutions run in FP32", check, Needs::Steps, TimePart::Kernels});
}

} // namespace advisor::rules
