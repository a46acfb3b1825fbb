#include "advisor/replay_saving.h"

#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>

namespace advisor {

using namespace profiler::analysis;

namespace {

// Of the device's work: with fewer links the replay of a device is that of the host alone.
constexpr double kLinked = 0.9;

} // namespace

std::optional<Saving> savingByReplay(const Case& c, const ReplayGraph& graph, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount == 0 || (hasDeviceWork(c.trace) && graph.linkedShare() < kLinked))
        return std::nullopt;
    const Replayed before = graph.replay();
    const double a = mean(savedPerStep(c.facts.steps, before, graph.replay(least)));
    const double b = mean(savedPerStep(c.facts.steps, before, graph.replay(most)));
    return perStep(std::min(a, b), (a + b) / 2, std::max(a, b));
}

} // namespace advisor
