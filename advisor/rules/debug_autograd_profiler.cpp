#include "advisor/evidence/debug_tool.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <vector>

namespace advisor::rules {
namespace {

using profiler::analysis::toUs;

// Maximum saving, as a multiple of the step time outside of phases, in which the profiler collects its records; writing
// records between operators costs time as well. Measured: without the profiler, steps are shorter by 0.7 to 1.5 times
// that time (an MLP, a convolutional network and a GPT on one core, PyTorch 2.11).
constexpr double kMost = 2;

/// Time that a step saves without host work outside of phases and without this share of the host work inside them; a
/// device may hide part of it.
std::optional<Saving> savingWithDevice(const RuleContext& c, double shareInside)
{
    using profiler::analysis::ReplayChange;
    using profiler::analysis::ReplayWork;
    const auto without = [shareInside](const ReplayWork& work) {
        const bool works =
            work.where == ReplayWork::Where::Host && !work.waits && work.phase != profiler::phase::kDataWait;
        return ReplayChange{.factor = 1 - (!works ? 0 : work.phase.empty() ? 1 : shareInside)};
    };
    return boundByReplay(c, without);
}

std::optional<Saving> saving(const RuleContext& c)
{
    std::vector<double> outside;
    for (const profiler::analysis::Step& step : c.facts.steps)
        if (profiler::analysis::isSteady(step))
            outside.push_back(toUs(step.parts.other));
    const double usual = profiler::analysis::mean(outside), step = c.facts.statistics.steadyMeanUs;
    if (hasDeviceWork(c.trace))
        return usual > 0 ? savingWithDevice(c, std::min(1.0, (kMost - 1) * usual / (step - usual))) : std::nullopt;
    return upperBound(SavingUnit::UsPerStep, std::min(kMost * usual, step));
}

constexpr DebugTool kTool = {
    "debug.autograd_profiler",
    [] { return message<"debug.autograd_profiler.off", "The autograd profiler is off.">(); },
    [] {
        return message<"debug.autograd_profiler.on", "The autograd profiler records every operator of every step.">();
    },
    [] {
        return message<"debug.autograd_profiler.caveat",
                       "A few profiled steps are enough to show where the time goes.">();
    },
    "steps",
    saving};

Advice check(const RuleContext& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_autograd_profiler()
{
    return proposing("false", {kTool.key, "The autograd profiler is on", check, Needs::Steps, kHostWork});
}

} // namespace advisor::rules
