#include "advisor/replay_saving.h"

#include "advisor/gpu_facts.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>

namespace advisor {

using namespace profiler::analysis;

namespace {

// Of the device's work: with fewer links the replay of a device is that of the host alone.
constexpr double kLinked = 0.9;

} // namespace

std::optional<Saving> savingByReplay(const Case& c, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount < 2)
        return std::nullopt;
    const ReplayGraph& graph = c.replay();
    if (hasDeviceWork(c.trace) && graph.linkedShare() < kLinked)
        return std::nullopt;
    const Replayed& before = c.unchanged();
    const Saving a = spreadOverSteps(savedPerStep(c.facts.steps, before, graph.replay(least)));
    const Saving b = spreadOverSteps(savedPerStep(c.facts.steps, before, graph.replay(most)));
    return perStep(std::min(a.low, b.low), (a.mid + b.mid) / 2, std::max(a.high, b.high));
}

} // namespace advisor
