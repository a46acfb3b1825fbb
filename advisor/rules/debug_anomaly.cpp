#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

constexpr std::string_view kKey = "debug.anomaly";

/// The check for NaN after each backward node: isnan and its reduction, read back at once.
bool isCheck(const OpCost& op)
{
    return op.phase == profiler::phase::kBackward && (op.name == "aten::isnan" || op.name == "aten::_is_any_true");
}

struct Checks {
    double count = 0, selfUs = 0, totalUs = 0; ///< a step
    std::vector<profiler::SliceId> longest;
};

Checks readChecks(const OpCosts& costs)
{
    Checks checks;
    for (const OpCost& op : costs.ops) {
        if (!isCheck(op))
            continue;
        checks.count = std::max(checks.count, op.countPerStep);
        checks.selfUs += op.selfUsPerStep;
        checks.totalUs += op.totalUsPerStep;
        checks.longest.push_back(op.longest);
    }
    return checks;
}

std::vector<profiler::SliceId> backwardPhases(const profiler::Trace& trace)
{
    std::vector<profiler::SliceId> phases;
    for (const profiler::Slice& slice : trace.ofKind(profiler::ActivityKind::Phase))
        if (trace.name(slice) == profiler::phase::kBackward && phases.size() < kMostEvidence)
            phases.push_back(slice.id);
    return phases;
}

Advice finding(const Case& c, const Checks& checks)
{
    Advice advice =
        fires("Anomaly detection is on: every backward node is checked for NaN and remembers where it came from.");
    if (checks.count > 0) {
        advice.reason += fmt::format(" {} checks a step take {}.", countText(checks.count), timeText(checks.totalUs));
        // What surrounds a check (reading its result back, remembering) is more than the check itself.
        advice.saving = perStep(checks.selfUs, (checks.selfUs + checks.totalUs) / 2, checks.totalUs);
    } else {
        advice.whyNoPrediction = "The checks are not among the recorded operators.";
    }
    advice.caveats = {"Switch it on again to find out where a NaN comes from."};
    setToggle(advice, c, kKey, "false");
    addEvidence(advice, c.trace, checks.longest);
    if (advice.evidence.empty())
        addEvidence(advice, c.trace, backwardPhases(c.trace));
    return advice;
}

Advice check(const Case& c)
{
    if (c.config && !(*c.config)[config::key::anomaly])
        return silent("Anomaly detection is off.");
    const Checks checks = readChecks(c.facts.ops);
    if (c.config || checks.count > 0)
        return finding(c, checks);
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell("The trace holds neither the configuration nor operators.");
    return silent("Backward holds no checks for NaN.");
}

} // namespace

Rule debug_anomaly()
{
    return {kKey, "Anomaly detection is on", check};
}

} // namespace advisor::rules
