#include "advisor/evidence/launch_bound.h"
#include "advisor/gpu_facts.h"
#include "advisor/memory_use.h"
#include "advisor/numbers.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>
#include <initializer_list>
#include <set>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "memory.pressure";
// Idle for it: as for data, a twentieth. A program that gives memory back this often does not do so at its end only.
constexpr double kWorthFixing = 0.05;
constexpr std::int64_t kManyCalls = 10;
constexpr std::size_t kManyGaps = 3; // many calls in one are a cache that was emptied once

/// What takes and gives back device memory in the second half of the window: what a run does at its start is no habit.
struct Churn {
    double share = 0; ///< of that half: some device idles for it
    std::int64_t takes = 0, frees = 0;
    std::size_t gaps = 0;            ///< between the devices' work, with such calls in them
    const IdleCause* idle = nullptr; ///< in the whole window
};

/// Calls on the device's memory, by marks in their names. Asynchronous ones serve themselves from the driver's pool.
bool isDeviceMemory(std::string_view call, std::initializer_list<std::string_view> marks)
{
    const auto has = [&](std::string_view mark) { return call.find(mark) != call.npos; };
    return std::any_of(marks.begin(), marks.end(), has) && !has("Host") && !has("Async") && !has("Array");
}

bool takesDeviceMemory(std::string_view call)
{
    return isDeviceMemory(call, {"Malloc", "MemAlloc", "MemCreate"});
}

bool givesDeviceMemoryBack(std::string_view call)
{
    return isDeviceMemory(call, {"Free"});
}

Intervals secondHalf(const Intervals& window)
{
    if (window.empty())
        return {};
    const TraceTime begin = window.front().begin, end = window.back().end;
    const std::vector<TimeRange> half{{begin + (end - begin) / 2, end}};
    return intersect(window, half);
}

Churn churnIn(const Case& c)
{
    Churn churn;
    const Intervals half = secondHalf(c.facts.device.window);
    if (half.empty())
        return churn;
    for (const IdleCause& cause : c.facts.device.idle)
        if (cause.cause == "allocation") {
            churn.idle = &cause;
            churn.share = toUs(total(intersect(cause.where, half))) / toUs(total(half));
        }
    if (churn.share < kWorthFixing)
        return churn;
    const Intervals idle = subtract(half, c.facts.device.any);
    std::set<TraceTime> gaps;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call : c.trace.ofKind(kind))
            if (const auto name = c.trace.name(call);
                beginsWithin(call, half) && (takesDeviceMemory(name) || givesDeviceMemoryBack(name))) {
                ++(takesDeviceMemory(name) ? churn.takes : churn.frees);
                for (const TimeRange& gap : overlapping(idle, call.range()))
                    gaps.insert(gap.begin);
            }
    churn.gaps = gaps.size();
    return churn;
}

/// Memory of the device is taken and given back all the time: PyTorch's cache of it is off, or drops what it holds to
/// make room.
std::optional<Advice> churn(const Case& c)
{
    if (c.config && c.facts.device.steps.empty()) // the run is starting
        return std::nullopt;
    const Churn found = churnIn(c);
    if (found.share < kWorthFixing || found.takes + found.frees < kManyCalls || found.gaps < kManyGaps)
        return std::nullopt;
    Advice advice =
        fires(fmt::format("The device idles {} of the time in the second half of the trace while its memory is taken "
                          "({} times) and given back ({} times).",
                          shareText(found.share), countText(found.takes), countText(found.frees)));
    advice.title = found.frees > 0 ? "Device memory is taken and given back all the time"
                                   : "Device memory is taken from the driver all the time";
    advice.concerns = found.share;
    advice.evidence = longestGaps(c, *found.idle);
    if (!c.facts.device.steps.empty())
        advice.saving = upperBoundOverSteps(c.facts.device.idleInEachStep({"allocation"}));
    else
        advice.whyNoPrediction = noStepMarks("what a step would save is not known");
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
    return {kKey, "Memory is nearly full", check, Needs::Run, TimePart::Allocation};
}

} // namespace advisor::rules
