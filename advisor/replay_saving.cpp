#include "advisor/replay_saving.h"

#include "advisor/gpu_facts.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <functional>

namespace advisor {

using namespace profiler::analysis;

namespace {

// Of the device's work: with fewer links the replay of a device is that of the host alone.
constexpr double kLinked = 0.9;

} // namespace

namespace {

std::optional<Saving> savingIn(const Case& c, const ReplayGraph& graph, const std::function<Replayed()>& unchanged,
                               const WhatIf& least, const WhatIf& most)
{
    if (hasDeviceWork(c.trace) && graph.linkedShare() < kLinked)
        return std::nullopt;
    const Replayed before = unchanged();
    const Saving a = spreadOverSteps(savedPerStep(c.facts.steps, before, graph.replay(least)));
    const Saving b = spreadOverSteps(savedPerStep(c.facts.steps, before, graph.replay(most)));
    return perStep(std::min(a.low, b.low), (a.mid + b.mid) / 2, std::max(a.high, b.high));
}

} // namespace

std::optional<Saving> savingByReplay(const Case& c, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount < 2)
        return std::nullopt;
    return savingIn(
        c, c.replay(), [&] { return c.unchanged(); }, least, most);
}

std::optional<Saving> savingByReplay(const Case& c, const SliceSet& cut, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount < 2)
        return std::nullopt;
    const auto graph = ReplayGraph::of(
        c.trace, c.facts.steps, [&](const profiler::analysis::SliceView& slice) { return cut.contains(slice.id()); });
    return savingIn(
        c, graph, [&] { return graph.replay(); }, least, most);
}

} // namespace advisor
