#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/prediction/kernel_bound.h"
#include "advisor/run_facts.h"
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
// Under a fifth of the work, casting tensors back and forth costs about what faster products win.
constexpr double kWorthTrying = 0.2;

// Of a processor's work. Its other operators get slower by the casts around products and by sixteen bits themselves; on
// one with AVX512_BF16 a GPT with 57 % and a vision transformer with 54 % in products became 1.6 and 2 times slower,
// convolutional networks with a third neither faster nor slower, a perceptron with 83 % 2.6 times faster.
constexpr double kPaysOnCpu = 0.8;

// Older devices multiply sixteen bits no faster than thirty-two.
constexpr int kFirstWithTensorCores = 70;
// Volta and Turing multiply FP16 on their tensor cores, and BF16 nowhere. Source: the CUDA programming guide's table of
// features by compute capability.
constexpr int kFirstWithBf16 = 80;

/// Whether the processor multiplies BF16 in hardware; no value when the trace does not say.
std::optional<bool> cpuHasBf16(const profiler::Trace& trace)
{
    const std::string_view flags = metadata(trace, "host.cpu_flags");
    if (flags.empty())
        return std::nullopt;
    constexpr std::array<std::string_view, 4> kFlags = {"avx512_bf16", "amx_bf16", "avx_ne_convert", "bf16"};
    return std::any_of(kFlags.begin(), kFlags.end(),
                       [&](std::string_view flag) { return flags.find(flag) != flags.npos; });
}

/// Products in full precision: of kernel time where kernels are recorded, else of operators' time.
WorkShare fullPrecisionProducts(const RuleContext& c)
{
    const analysis::KernelWork& work = c.facts.device.work;
    if (work.all.count > 0)
        return {.recorded = true, .share = work.share(work.fullPrecisionTime), .longest = work.fullPrecision};
    return workShare(c, isMatrixProduct);
}

/// What autocast leaves of a kernel at most: products in full precision may vanish; of others, which memory bounds,
/// half of the bytes remain; communication and products on tensor cores stay.
double leftByAutocast(std::string_view kernel)
{
    if (isFullPrecisionProduct(kernel))
        return 0;
    const analysis::KernelClass of = analysis::kernelClass(kernel);
    return analysis::isProduct(of) || of == analysis::KernelClass::Communication ? 1 : 0.5;
}

/// What rules autocast out or leaves it open; no value when it may be tried.
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
                    "The trace does not say whether the processor has BF16 instructions (host.cpu_flags).">(),
            Need::Program);
    if (!*bf16)
        return silent(message<"precision.amp.cpu_without_bf16",
                              "The processor has no BF16 instructions: it would emulate them, which is slower.">());
    return std::nullopt;
}

Advice check(const RuleContext& c)
{
    if (c.config && (*c.config)[config::key::amp] != "off")
        return silent(message<"precision.amp.on", "Mixed precision is on already.">());
    if (auto advice = withoutSteadySteps(c); advice && c.facts.device.work.all.count == 0)
        return *advice;
    if (!hasDeviceWork(c.trace) && !ranOnCpu(c))
        return cannotTell(deviceNotRecorded(c), Need::KernelsAndHost);
    const WorkShare products = fullPrecisionProducts(c);
    if (!products.recorded)
        return cannotTell(
            message<"precision.amp.no_work",
                    "Neither operators nor kernels were recorded: the share of matrix products is not known.">(),
            Need::Operators);
    if (products.share < kWorthTrying)
        return silent(
            message<"precision.amp.little_fp32", "Only {share} of the work is matmuls and convolutions in FP32.">(
                {{"share", products.share, shareText(products.share)}}));
    if (auto advice = hindrance(c))
        return *advice;
    if (!hasDeviceWork(c.trace) && products.share < kPaysOnCpu)
        return cannotTell(
            message<"precision.amp.cpu_may_lose",
                    "{share} of the work is matmuls and convolutions in FP32. On a CPU the casts and the slower other "
                    "operators may cost more than this wins.">({{"share", products.share, shareText(products.share)}}),
            Need::Measurement);
    Advice advice = fires(message<"precision.amp.fp32", "{share} of the work is matmuls and convolutions in FP32.">(
        {{"share", products.share, shareText(products.share)}}));
    if (c.facts.device.work.all.count > 0) {
        const KernelBound bound = boundByKernels(c, leftByAutocast);
        if (!bound.matters())
            return offTheCriticalPath(bound);
        promise(advice, c, bound);
        // The bound holds what else autocast touches; the finding is about the products.
        advice.timeShare = std::min(bound.share, shareOfTime(c, products.share));
    } else {
        advice.timeShare = shareOfTime(c, products.share);
        advice.whyNoPrediction =
            message<"precision.amp.other_kernels",
                    "Another precision runs other kernels, whose times are not in this trace: measure it.">();
    }
    advice.caveats = {
        message<"precision.amp.compare_loss", "The loss must stay finite and close to that of FP32: compare it.">(),
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
