#include "advisor/prediction/replay_saving.h"

#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <functional>

namespace advisor {

using namespace profiler::analysis;

namespace {

std::optional<Saving> savingIn(const RuleContext& c, const ReplayGraph& graph,
                               const std::function<Replayed()>& unchanged, const WhatIf& least, const WhatIf& most)
{
    if (hasDeviceWork(c.trace) && graph.linkedShare() < kLinkedForReplay)
        return std::nullopt;
    const Replayed before = unchanged();
    return meanOverSteps(savedPerStep(c.facts.steps, before, graph.replay(least)),
                         savedPerStep(c.facts.steps, before, graph.replay(most)));
}

} // namespace

std::optional<Saving> savingByReplay(const RuleContext& c, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount == 0)
        return std::nullopt;
    return savingIn(
        c, c.replay(), [&] { return c.unchanged(); }, least, most);
}

std::optional<Saving> boundByReplay(const RuleContext& c, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount == 0 || (hasDeviceWork(c.trace) && c.replay().linkedShare() < kLinkedForReplay))
        return std::nullopt;
    const Saving bound = upperBoundOverSteps(savedPerStep(c.facts.steps, c.unchanged(), c.replay().replay(most)));
    return upperBound(SavingUnit::UsPerStep, std::max(0.0, bound.high));
}

std::optional<Saving> savingByReplay(const RuleContext& c, const SliceSet& cut, const WhatIf& least, const WhatIf& most)
{
    if (c.facts.statistics.steadyCount == 0)
        return std::nullopt;
    const auto graph = ReplayGraph::of(
        c.trace, c.facts.steps, [&](const profiler::analysis::SliceView& slice) { return cut.contains(slice.id()); });
    return savingIn(
        c, graph, [&] { return graph.replay(); }, least, most);
}

} // namespace advisor
