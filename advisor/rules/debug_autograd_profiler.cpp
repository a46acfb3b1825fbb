#include "advisor/debug_tool.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/prediction/saving.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <vector>

namespace advisor::rules {
namespace {

using profiler::analysis::toUs;

/// The same where a device works beside the host: by the replay, since it may hide all of that.
/// @param shareOutside  of what lies outside of the phases, at least the profiler's
/// @param shareInside  of what the host does inside them, at most
std::optional<Saving> besideADevice(const Case& c, double shareOutside, double shareInside)
{
    using profiler::analysis::ReplayChange;
    using profiler::analysis::ReplayWork;
    const auto without = [](double outside, double inside) {
        return [outside, inside](const ReplayWork& work) {
            const bool works =
                work.where == ReplayWork::Where::Host && !work.waits && work.phase != profiler::phase::kDataWait;
            return ReplayChange{.factor = 1 - (!works ? 0 : work.phase.empty() ? outside : inside)};
        };
    };
    return savingByReplay(c, without(shareOutside, 0), without(1, shareInside));
}

/// What a step spends outside of its phases is gathering what the profiler wrote; writing it takes about as long again,
/// in between the operators, where nothing tells them apart.
std::optional<Saving> saving(const Case& c)
{
    std::vector<double> outside;
    for (const profiler::analysis::Step& step : c.facts.steps)
        if (profiler::analysis::isSteady(step))
            outside.push_back(toUs(step.parts.other));
    const double low = profiler::analysis::percentile(outside, 0.1);
    const double usual = profiler::analysis::mean(outside), step = c.facts.statistics.steadyMeanUs;
    if (hasDeviceWork(c.trace))
        return usual > 0 ? besideADevice(c, low / usual, std::min(1.0, usual / (step - usual))) : std::nullopt;
    std::vector<double> twice;
    for (const double us : outside)
        twice.push_back(std::min(2 * us, step));
    return meanOverSteps(outside, twice);
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

Advice check(const Case& c)
{
    return checkDebugTool(c, kTool);
}

} // namespace

Rule debug_autograd_profiler()
{
    return {kTool.key, "The autograd profiler is on", check, Needs::Steps, kHostWork};
}

} // namespace advisor::rules
