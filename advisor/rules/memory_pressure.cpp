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
// Of the time, idle while allocation calls block. Chosen: a twentieth, as for data; less is lost in the spread of steps.
constexpr double kWorthFixing = 0.05;
// Chosen: calls in one or two gaps may be a cache that is emptied once and filled again.
constexpr std::size_t kManyGaps = 3;

/// Calls that allocate or free memory between kernels.
struct AllocationCalls {
    double idleShare = 0; ///< of the time in which they are looked for, on the device that idles longest
    std::int64_t allocations = 0, frees = 0;
    Nanoseconds blocked{};           ///< the host, on any thread
    Nanoseconds searched{};          ///< time in which they are looked for
    std::size_t gaps = 0;            ///< between the devices' work, with such calls in them
    const IdleCause* idle = nullptr; ///< in the whole window
};

/// Asynchronous calls serve themselves from the driver's pool and do not block.
bool isBlocking(std::string_view call, std::initializer_list<std::string_view> marks)
{
    const auto has = [&](std::string_view mark) { return call.find(mark) != call.npos; };
    return std::any_of(marks.begin(), marks.end(), has) && !has("Async");
}

/// Of device memory or page-locked memory.
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

/// Where allocation is a habit: in steady steps. Without steps in the second half, since a run begins by allocating.
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
    if (calls.idleShare < kWorthFixing)
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
        return message<"memory.pressure.calls_without_steps",
                       "Calls between kernels that allocate ({allocations}) or free ({frees}) memory block for {time} in "
                       "{searched}; the device idles {share} of it. The trace has no steps, so this is not per step.">(
            {{"allocations", found.allocations},
             {"frees", found.frees},
             {"time", us, timeText(us)},
             {"searched", toUs(found.searched), timeText(toUs(found.searched))},
             {"share", found.idleShare, shareText(found.idleShare)}});
    return message<"memory.pressure.calls",
                   "Calls between kernels that allocate ({allocations}) or free ({frees}) memory block for {time} per "
                   "step; the device idles {share} of the time meanwhile.">(
        {{"allocations", found.allocations},
         {"frees", found.frees},
         {"time", us, timeText(us)},
         {"share", found.idleShare, shareText(found.idleShare)}});
}

/// PyTorch's cache of device memory is off, or drops what it holds to make room; or a program has no cache.
std::optional<Advice> allocationsBetweenKernels(const RuleContext& c)
{
    if (c.config && c.facts.device.steps.empty()) // the run is starting
        return std::nullopt;
    const AllocationCalls found = allocationCalls(c);
    if (found.idleShare < kWorthFixing || found.gaps < kManyGaps)
        return std::nullopt;
    Advice advice = fires(allocationReason(c, found));
    advice.title = "Memory is allocated between kernels";
    advice.timeShare = found.idleShare;
    advice.evidence = longestGaps(c, *found.idle);
    if (!c.facts.device.steps.empty())
        advice.saving = upperBoundOverSteps(c.facts.device.idleInEachStep({"allocation"}));
    else
        advice.whyNoPrediction = noStepMarks("what a step would save is not known");
    advice.caveats = {
        message<"memory.pressure.no_cache", "PYTORCH_NO_CUDA_MEMORY_CACHING turns PyTorch's cache off: is it set?">(),
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
        message<"memory.pressure.full",
                "Memory was {share} full: a longer sample or another program can end the run.">(
            {{"share", use->share(), shareText(use->share())}}));
    advice.whyNoPrediction = message<"memory.pressure.no_prediction",
                                     "Several settings free memory; what each of them frees has to be measured.">();
    advice.caveats = {message<"memory.pressure.reserved",
                              "A caching allocator keeps what it does not need: more is reserved than is in use.">()};
    advice.whyNoToggle = noSingleSetting();
    return advice;
}

} // namespace

Rule memory_pressure()
{
    return {kKey, "Memory is nearly full", check, Needs::Run, TimePart::Allocation};
}

} // namespace advisor::rules
