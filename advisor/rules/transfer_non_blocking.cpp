#include "advisor/gpu_facts.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "transfer.non_blocking";
// Of the step: below, ordering the copies ahead cannot be told from noise.
constexpr double kWorthFixing = 0.01;
// Of a trace without step marks, which holds start and end of the run as well.
constexpr double kWorthFixingWithoutSteps = 0.05;

/// When copies to the device run and no kernel does.
Intervals exposedCopies(const Case& c)
{
    std::vector<TimeRange> ranges;
    for (const Slice& copy : c.facts.device.copies)
        if (copy.args.copy == CopyKind::HtoD)
            ranges.push_back(copy.range());
    return subtract(unite(std::move(ranges)), c.facts.device.kernels);
}

Advice check(const Case& c)
{
    if (setting(c, kKey) == "true")
        return silent("Copies are ordered ahead already.");
    if (auto advice = withoutDeviceWork(c, "The run was on the CPU: nothing is copied to a device."))
        return *advice;
    const CopyUse all = copyUse(c, CopyKind::HtoD);
    if (all.count == 0)
        return silent("Nothing is copied from the host to a device.");
    const double share =
        static_cast<double>(all.exposed.count()) / static_cast<double>(c.facts.device.windowTime().count());
    const bool steps = !c.facts.device.steps.empty();
    if (share < (steps ? kWorthFixing : kWorthFixingWithoutSteps))
        return silent(
            fmt::format("Copies to the device that no kernel hides take only {} of the time.", shareText(share)));
    if (copyUse(c, CopyKind::HtoD, MemoryKind::Pageable).count == all.count)
        return silent(
            "All copies come from pageable memory: such a copy blocks whatever is asked. See loader.pin_memory.");
    if (!steps && c.config)
        return cannotTell("The trace has no step marks yet.");
    Advice advice =
        fires(steps ? fmt::format("{} of each step is copying to the device while no kernel runs.",
                                  timeText(c.facts.device.usPerStep(all.exposed)))
                    : fmt::format("{} of the time is copying to the device while no kernel runs.", shareText(share)));
    advice.concerns = share;
    if (steps)
        advice.saving = spreadOverSteps(insideEachStep(c, exposedCopies(c)));
    else
        advice.whyNoPrediction = "The trace has no step marks: what a step would save is not known.";
    advice.caveats = {"Copies on the stream that computes wait for their turn there: they need a stream of their own.",
                      "Only from pinned memory, and only without a synchronization right behind the copy.",
                      "The host buffer must not be used again before the copy is done."};
    setToggle(advice, c, kKey, "true");
    addEvidence(advice, c.trace, all.longest);
    return advice;
}

} // namespace

Rule transfer_non_blocking()
{
    return {kKey, "The step waits for copies to the device", check};
}

} // namespace advisor::rules
