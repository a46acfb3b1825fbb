#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;
using profiler::Nanoseconds;
using profiler::Slice;
namespace phase = profiler::phase;

constexpr std::string_view kKey = "debug.anomaly";

/// The NaN check after each backward node: isnan and its reduction, whose result is read back at once.
bool isCheck(const OpCost& op)
{
    return op.phase == profiler::phase::kBackward && (op.name == "aten::isnan" || op.name == "aten::_is_any_true");
}

struct Checks {
    double count = 0, selfUs = 0, totalUs = 0; ///< per step
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

/// Mean time per batch of each validation, which runs only the forward pass; empty if no validation marks its batches.
std::vector<double> forwardOfValidations(const profiler::Trace& trace)
{
    std::vector<double> found;
    for (const Slice& validation : trace.ofKind(profiler::ActivityKind::Phase)) {
        if (trace.name(validation) != phase::kValidation)
            continue;
        Nanoseconds time = validation.duration;
        std::int64_t batches = 0;
        trace.forEach(validation.id.track, validation.range(), [&](const Slice& slice) {
            const std::string_view name = trace.name(slice);
            if (slice.kind == profiler::ActivityKind::Phase && validation.range().contains(slice.begin) &&
                (name == phase::kDataWait || name == phase::kCopy || name == phase::kWorkerStart)) {
                time -= slice.duration;
                batches += name == phase::kCopy;
            }
            return true;
        });
        if (batches > 0)
            found.push_back(toUs(time) / static_cast<double>(batches));
    }
    return found;
}

/// In anomaly mode, each operator of the forward pass records its call site; in validation it does not. The lower bound
/// is this time plus the checks; the upper bound also includes the whole backward pass, whose nodes keep what the
/// forward pass recorded.
std::optional<Saving> saving(const RuleContext& c, const Checks& checks)
{
    const bool comparable = c.config && (*c.config)[config::key::evalNoGrad] && !hasDeviceWork(c.trace);
    const std::vector<double> without = comparable ? forwardOfValidations(c.trace) : std::vector<double>();
    std::vector<double> least, most;
    for (const Step& step : c.facts.steps)
        if (isSteady(step)) {
            const double forwardUs = toUs(step.parts.forward) - mean(without);
            least.push_back(forwardUs + checks.selfUs);
            most.push_back(forwardUs + std::max(checks.totalUs, toUs(step.parts.backward)));
        }
    if (without.empty() || least.size() < 2)
        return std::nullopt;
    return meanOverSteps(least, most);
}

/// Time that a step saves without its checks, each of which waits for the device; no value if the trace cannot be
/// replayed. The cost of recording call sites comes on top.
std::optional<Saving> savedByChecksAlone(const RuleContext& c)
{
    const SliceSet checks = operatorsIn(
        c.trace,
        [](std::string_view name) {
            return name == "aten::isnan" || name == "aten::_is_any_true" || name == "aten::item" ||
                   name == "aten::is_nonzero";
        },
        phase::kBackward);
    const ChosenWork work(c.trace, checks);
    const auto without = [&](const ReplayWork& piece) {
        const bool gone = work.onHost(piece) || work.onDevice(piece);
        return ReplayChange{.factor = gone ? 0.0 : 1.0, .waits = !work.onHost(piece)};
    };
    return savingByReplay(c, checks, without, without);
}

Message whyNotKnown(const RuleContext& c)
{
    const auto least = hasDeviceWork(c.trace) ? savedByChecksAlone(c) : std::nullopt;
    if (least && least->mid > 0)
        return message<"debug.anomaly.checks_only",
                       "Without the NaN checks, a step would take {time} less, according to a replay of this trace. "
                       "The cost of recording call sites is not visible: measure it.">(
            {{"time", least->mid, timeText(least->mid)}});
    return message<"debug.anomaly.nothing_to_compare",
                   "The NaN checks are the smaller part: recording call sites slows the forward pass. The trace has no "
                   "CPU validation without gradients to compare with.">();
}

Advice finding(const RuleContext& c, const Checks& checks)
{
    Advice advice = fires(
        checks.count > 0
            ? message<
                  "debug.anomaly.on_with_checks",
                  "Anomaly detection is on: every operator records its call site, and every gradient is checked for "
                  "NaN. {checks} checks per step take {time}.">({{"checks", checks.count, countText(checks.count)},
                                                                 {"time", checks.totalUs, timeText(checks.totalUs)}})
            : message<"debug.anomaly.on", "Anomaly detection is on: every operator records its call site, and every "
                                          "gradient is checked for NaN.">());
    advice.saving = saving(c, checks);
    if (!advice.saving)
        advice.whyNoPrediction = whyNotKnown(c);
    if (c.facts.statistics.steadyCount > 0)
        advice.timeShare =
            toUs(c.facts.statistics.steadyMeanParts.forward + c.facts.statistics.steadyMeanParts.backward) /
            c.facts.statistics.steadyMeanUs;
    advice.caveats = {message<"debug.anomaly.caveat", "Turn it on again to find the source of a NaN.">()};
    setToggle(advice, c, kKey, "false");
    addEvidence(advice, c.trace, checks.longest);
    if (advice.evidence.empty())
        addEvidence(advice, c.trace, backwardPhases(c.trace));
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.config && !(*c.config)[config::key::anomaly])
        return silent(message<"debug.anomaly.off", "Anomaly detection is off.">());
    const Checks checks = readChecks(c.facts.ops);
    if (c.config || checks.count > 0)
        return finding(c, checks);
    if (c.facts.ops.stepsWithOps == 0)
        return cannotTell(
            message<"debug.anomaly.not_recorded", "The trace contains neither a configuration nor operators.">(),
            Need::Operators);
    return silent(message<"debug.anomaly.no_checks", "The backward pass contains no NaN checks.">());
}

} // namespace

Rule debug_anomaly()
{
    return proposing("false", {kKey, "Anomaly detection is on", check, Needs::Steps, TimePart::Sync | kHostWork});
}

} // namespace advisor::rules
