#include "advisor/gpu_facts.h"
#include "advisor/launch_bound.h"
#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "memory.pressure";
// Idle for it: as for data, a twentieth. A program that gives memory back this often does not do so at its end only.
constexpr double kWorthFixing = 0.05;
constexpr std::int64_t kManyFrees = 10;

/// In its second half: what a run takes and gives back at its start is no habit.
std::int64_t freesInTheWindow(const Case& c)
{
    if (c.facts.device.window.empty())
        return 0;
    const profiler::TraceTime begin = c.facts.device.window.front().begin, end = c.facts.device.window.back().end;
    const profiler::TraceTime middle = begin + (end - begin) / 2;
    std::int64_t frees = 0;
    for (const profiler::ActivityKind kind : {profiler::ActivityKind::CudaRuntime, profiler::ActivityKind::CudaDriver})
        for (const profiler::Slice& call : c.trace.ofKind(kind))
            if (call.begin >= middle && profiler::analysis::beginsWithin(call, c.facts.device.window) &&
                c.trace.name(call).find("Free") != std::string_view::npos)
                ++frees;
    return frees;
}

/// Memory of the device is taken and given back all the time: PyTorch's cache of it is off, or drops what it holds to
/// make room.
std::optional<Advice> churn(const Case& c)
{
    const double share = c.facts.device.idleShare("allocation");
    const bool starting = c.config && c.facts.device.steps.empty();
    if (starting || share < kWorthFixing || freesInTheWindow(c) < kManyFrees)
        return std::nullopt;
    Advice advice = fires(
        fmt::format("The device idles {} of the time while its memory is taken and given back.", shareText(share)));
    advice.concerns = share;
    for (const auto& cause : c.facts.device.idle)
        if (cause.cause == "allocation") {
            advice.evidence = longestGaps(c, cause);
            if (c.facts.device.steps.size() > 1)
                advice.saving = spreadOverSteps(insideEachStep(c, cause.where));
        }
    if (!advice.saving)
        advice.whyNoPrediction = "The trace does not mark several steps: what one would save is not known.";
    advice.caveats = {"Is PYTORCH_NO_CUDA_MEMORY_CACHING set? It turns the cache off.",
                      "If not, memory is short or in pieces: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True helps."};
    advice.whyNoToggle = "No single setting: see checkpointing, gradient.accumulation, precision.amp and batch.size.";
    return advice;
}

Advice check(const Case& c)
{
    if (auto found = churn(c))
        return *found;
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    Advice advice =
        firesOnMemory(c, *use,
                      fmt::format("Memory was {} full: a longer sample or another program is enough to end the run.",
                                  shareText(use->share())));
    advice.whyNoPrediction = "No single change: what each of them frees is measured.";
    advice.caveats = {
        "A caching allocator keeps what it does not need: what is reserved may be more than what is used."};
    advice.whyNoToggle = "No single setting: see checkpointing, gradient.accumulation, precision.amp and batch.size.";
    return advice;
}

} // namespace

Rule memory_pressure()
{
    return {kKey, "Memory is nearly full", check};
}

} // namespace advisor::rules
