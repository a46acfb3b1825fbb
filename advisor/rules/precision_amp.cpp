#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "precision.amp";
// Under a fifth of the work, casting tensors back and forth costs about what faster products win.
constexpr double kWorthTrying = 0.2;

bool isLowPrecision(std::string_view kernel)
{
    constexpr std::array<std::string_view, 9> kMarks = {"bf16",   "fp16",           "half",     "h884", "h1688",
                                                        "h16816", "s16816gemm_f16", "BFloat16", "hgemm"};
    return std::any_of(kMarks.begin(), kMarks.end(),
                       [&](std::string_view mark) { return kernel.find(mark) != kernel.npos; });
}

bool isFullPrecisionProduct(std::string_view name)
{
    return isMatrixProduct(name) && !isLowPrecision(name);
}

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

/// What rules autocast out or leaves it open; no value when it may be tried.
std::optional<Advice> hindrance(const Case& c)
{
    if (hasDeviceWork(c.trace))
        return std::nullopt;
    if (!ranOnCpu(c))
        return cannotTell("The run asked for a GPU, but the trace holds nothing that ran there.");
    if (!c.config)
        return cannotTell("The trace does not record the precision of operators.");
    const std::optional<bool> bf16 = cpuHasBf16(c.trace);
    if (!bf16)
        return cannotTell("The trace does not say whether the processor has BF16 instructions (host.cpu_flags).");
    if (!*bf16)
        return silent("The processor has no BF16 instructions: it would emulate them, slower.");
    return std::nullopt;
}

Advice check(const Case& c)
{
    if (c.config && (*c.config)[config::key::amp] != "off")
        return silent("Mixed precision is on already.");
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const WorkShare products = workShare(c, isFullPrecisionProduct);
    if (!products.recorded)
        return cannotTell("Neither operators nor kernels were recorded: the share of matrix products is not known.");
    if (products.share < kWorthTrying)
        return silent(fmt::format("Matrix products and convolutions in full precision are only {} of the work.",
                                  shareText(products.share)));
    if (auto advice = hindrance(c))
        return *advice;
    Advice advice = fires(fmt::format("Matrix products and convolutions in full precision are {} of the work.",
                                      shareText(products.share)));
    advice.whyNoPrediction = "Other precision runs other kernels, whose times are not in this trace: measure it.";
    advice.caveats = {
        "The loss must stay finite and close to that of full precision: compare it.",
        "BF16 has FP32's range and needs no gradient scaling; FP16 does, and its skipped steps must be counted."};
    setToggle(advice, c, kKey, "bf16");
    addEvidence(advice, c.trace, products.longest);
    return advice;
}

} // namespace

Rule precision_amp()
{
    return {kKey, "Matrix products run in full precision", check};
}

} // namespace advisor::rules
