#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace advisor::rules {
namespace {

constexpr std::string_view kKey = "work.unused";
using namespace profiler;
using namespace profiler::analysis;

/// Number of tensors whose gradients are computed although nothing uses them: frozen parameters and the input.
int unneededGradients(const RuleContext& c)
{
    const std::string_view recorded = metadata(c.trace, "work.unneeded_gradients");
    int count = 0;
    std::from_chars(recorded.data(), recorded.data() + recorded.size(), count);
    return count;
}

/// Outermost operators of a step's backward pass, in order.
std::vector<SliceBrief> backwardOps(const ThreadOps& thread, const Slice& backward)
{
    const auto before = [](const SliceBrief& op, TraceTime time) { return op.begin < time; };
    const auto begin = std::lower_bound(thread.outermost.begin(), thread.outermost.end(), backward.begin, before);
    return {begin, std::lower_bound(begin, thread.outermost.end(), backward.end(), before)};
}

struct Unneeded {
    double surelyUs = 0, atMostUs = 0;
};

/// Frozen blocks come first in the model and therefore last in the backward pass: work after the last required gradient
/// is accumulated is redundant. Part of the preceding node, which computes the input of those nodes, is redundant as
/// well; how much of it is unknown.
std::optional<Unneeded> unneededIn(const RuleContext& c, const Slice& backward, const std::vector<SliceBrief>& ops,
                                   std::size_t unneeded)
{
    std::vector<std::size_t> added;
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (c.trace.string(ops[i].name).ends_with("AccumulateGrad"))
            added.push_back(i);
    if (added.size() <= unneeded)
        return std::nullopt;
    const std::size_t last = added[added.size() - unneeded - 1];
    Unneeded found;
    found.surelyUs = toUs(backward.end() - ops[last].end());
    std::size_t node = last;
    while (node > 0 && c.trace.string(ops[node].name).ends_with("AccumulateGrad"))
        --node;
    found.atMostUs = found.surelyUs + toUs(ops[node].duration);
    return found;
}

/// Minimum and maximum time per step that such gradients take, over all steps.
std::optional<Saving> saving(const RuleContext& c)
{
    const int unneeded = unneededGradients(c);
    // If only the input's gradient is unneeded, it is computed inside the node of the first layer.
    if (unneeded < 2 || hasDeviceWork(c.trace) || c.facts.steps.empty())
        return std::nullopt;
    const TrackId track = c.facts.steps.front().slice.track;
    const auto thread =
        std::find_if(c.ops().begin(), c.ops().end(), [&](const ThreadOps& ops) { return ops.track == track; });
    std::vector<double> least, most;
    for (const TimeRange step : thread == c.ops().end() ? std::vector<TimeRange>() : stepsWithOps(c))
        c.trace.forEach(track, step, [&](const Slice& phase) {
            if (phase.kind != ActivityKind::Phase || c.trace.name(phase) != phase::kBackward)
                return true;
            if (const auto found =
                    unneededIn(c, phase, backwardOps(*thread, phase), static_cast<std::size_t>(unneeded))) {
                least.push_back(found->surelyUs / toUs(step.duration()));
                most.push_back(found->atMostUs / toUs(step.duration()));
            }
            return true;
        });
    if (least.empty())
        return std::nullopt;
    const double stepUs = c.facts.statistics.steadyMeanUs;
    for (std::vector<double>* shares : {&least, &most})
        for (double& share : *shares)
            share *= stepUs;
    return meanOverSteps(least, most);
}

Advice check(const RuleContext& c)
{
    if (!c.config)
        return cannotTell(message<"work.unused.not_recorded", "The trace does not record which results are used.">(),
                          Need::Program);
    if (!(*c.config)[config::key::unusedWork])
        return silent(message<"work.unused.off", "The configuration computes no unused results.">());
    Advice advice =
        fires(message<
              "work.unused.on",
              "Every step computes gradients of the inputs and of frozen layers, and outputs that are never used.">());
    advice.saving = saving(c);
    if (!advice.saving)
        advice.whyNoPrediction = message<"work.unused.not_predicted",
                                         "The trace does not record which operators are redundant: measure it.">();
    if (c.facts.statistics.steadyCount > 0)
        advice.timeShare = toUs(c.facts.statistics.steadyMeanParts.backward) / c.facts.statistics.steadyMeanUs;
    advice.caveats = {
        message<"work.unused.unread", "The results stay the same only if nothing uses what is removed.">(),
        message<"work.unused.frozen_later",
                "A layer that is frozen now but trained later needs its gradients again.">()};
    setToggle(advice, c, kKey, "false");
    addSteps(advice, c);
    return advice;
}

} // namespace

Rule work_unused()
{
    return {kKey, "Every step does redundant work", check, Needs::Steps, TimePart::Launch | TimePart::Kernels};
}

} // namespace advisor::rules
