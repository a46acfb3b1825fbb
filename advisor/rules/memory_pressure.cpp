#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/memory_use.h"
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
// Minimum share of the time that the device idles while allocation calls block. Chosen: 5 %, as for data; less
// disappears in the variation between steps.
constexpr double kMinimumShare = 0.05;
// Chosen: calls in one or two gaps may come from a cache that is emptied once and refilled.
constexpr std::size_t kManyGaps = 3;

/// Calls that allocate or free memory between kernels.
struct AllocationCalls {
    double idleShare = 0; ///< share of the searched time, on the device that idles longest
    std::int64_t allocations = 0, frees = 0;
    Nanoseconds blocked{};           ///< the host, on any thread
    Nanoseconds searched{};          ///< length of the searched part of the trace
    std::size_t gaps = 0;            ///< gaps in device work that contain such calls
    const IdleCause* idle = nullptr; ///< in the whole window
};

/// Asynchronous calls use the driver's memory pool and do not block.
bool isBlocking(std::string_view call, std::initializer_list<std::string_view> marks)
{
    const auto has = [&](std::string_view mark) { return call.find(mark) != call.npos; };
    return std::any_of(marks.begin(), marks.end(), has) && !has("Async");
}

/// True for calls that allocate device memory or page-locked memory.
bool allocates(std::string_view call)
{
    return isBlocking(call, {"Malloc", "MemAlloc", "MemCreate", "HostAlloc"});
}

bool frees(std::string_view call)
{
    return isBlocking(call, {"Free"});
}

Message noSingleSetting()
{
    return message<"memory.pressure.no_toggle",
                   "No single setting: see checkpointing, gradient.accumulation, precision.amp and batch.size.">();
}

/// The part of the trace in which allocation should not be necessary: the steady steps or, without steps, the second
/// half, because programs allocate at the start.
Intervals searchedPart(const RuleContext& c)
{
    const Intervals& window = c.facts.device.window;
    if (window.empty() || !c.facts.device.steps.empty())
        return window;
    const TraceTime begin = window.front().begin, end = window.back().end;
    const std::vector<TimeRange> half{{begin + (end - begin) / 2, end}};
    return intersect(window, half);
}

AllocationCalls allocationCalls(const RuleContext& c)
{
    AllocationCalls calls;
    const Intervals part = searchedPart(c);
    if (part.empty())
        return calls;
    calls.searched = total(part);
    for (const IdleCause& cause : c.facts.device.idle)
        if (cause.cause == "allocation") {
            calls.idle = &cause;
            calls.idleShare = toUs(total(intersect(cause.where, part))) / toUs(calls.searched);
        }
    if (calls.idleShare < kMinimumShare)
        return calls;
    const Intervals idle = subtract(part, c.facts.device.any);
    std::set<TraceTime> gaps;
    UnionBuilder blocked;
    for (const ActivityKind kind : {ActivityKind::CudaRuntime, ActivityKind::CudaDriver})
        for (const Slice& call : c.trace.ofKind(kind))
            if (const auto name = c.trace.name(call); beginsWithin(call, part) && (allocates(name) || frees(name))) {
                ++(allocates(name) ? calls.allocations : calls.frees);
                blocked.add(call.range());
                for (const TimeRange& gap : overlapping(idle, call.range()))
                    gaps.insert(gap.begin);
            }
    calls.blocked = total(blocked.take());
    calls.gaps = gaps.size();
    return calls;
}

Message allocationReason(const RuleContext& c, const AllocationCalls& found)
{
    const double us = c.facts.device.usPerStep(found.blocked);
    if (c.facts.device.steps.empty())
        return message<
            "memory.pressure.calls_without_steps",
            "Calls between kernels that allocate ({allocations}) or free ({frees}) memory block for {time} in "
            "{searched}; the device idles {share} of that time. The trace has no steps, so this is not per step.">(
            {{"allocations", found.allocations},
             {"frees", found.frees},
             {"time", us, timeText(us)},
             {"searched", toUs(found.searched), timeText(toUs(found.searched))},
             {"share", found.idleShare, shareText(found.idleShare)}});
    return message<"memory.pressure.calls",
                   "Calls between kernels that allocate ({allocations}) or free ({frees}) memory block for {time} per "
                   "step; the device idles {share} of the time during these calls.">(
        {{"allocations", found.allocations},
         {"frees", found.frees},
         {"time", us, timeText(us)},
         {"share", found.idleShare, shareText(found.idleShare)}});
}

/// Fires if PyTorch's caching allocator is off or frees cached memory to make room, or if a program has no caching
/// allocator.
std::optional<Advice> allocationsBetweenKernels(const RuleContext& c)
{
    if (c.config && c.facts.device.steps.empty()) // only the start of the run is recorded
        return std::nullopt;
    const AllocationCalls found = allocationCalls(c);
    if (found.idleShare < kMinimumShare || found.gaps < kManyGaps)
        return std::nullopt;
    Advice advice = fires(allocationReason(c, found));
    advice.title = "Memory is allocated between kernels";
    advice.timeShare = found.idleShare;
    advice.evidence = longestGaps(c, *found.idle);
    if (!c.facts.device.steps.empty())
        advice.saving = upperBoundOverSteps(c.facts.device.idleInEachStep({"allocation"}));
    else
        advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    advice.caveats = {
        message<"memory.pressure.no_cache",
                "PYTORCH_NO_CUDA_MEMORY_CACHING turns off PyTorch's caching allocator: check whether it is set.">(),
        message<"memory.pressure.fragmented", "If it is not set, memory is short or fragmented: "
                                              "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True helps.">()};
    advice.whyNoToggle = noSingleSetting();
    return advice;
}

Advice check(const RuleContext& c)
{
    if (auto found = allocationsBetweenKernels(c))
        return *found;
    const auto use = memoryUse(c);
    if (auto none = withoutFullMemory(c, use))
        return *none;
    Advice advice = firesOnMemory(
        c, *use,
        message<"memory.pressure.full", "Memory was {share} full: a longer sample or another program can end the run.">(
            {{"share", use->share(), shareText(use->share())}}));
    advice.whyNoPrediction = message<"memory.pressure.no_prediction",
                                     "Several settings free memory; measure how much each of them frees.">();
    advice.caveats = {message<"memory.pressure.reserved",
                              "A caching allocator keeps unused memory: more is reserved than is in use.">()};
    advice.whyNoToggle = noSingleSetting();
    return advice;
}

} // namespace

Rule memory_pressure()
{
    return {kKey, "Memory is nearly full", check, Needs::Run, TimePart::Allocation};
}

} // namespace advisor::rules
