#include "advisor/evidence/warm_up.h"

#include "advisor/numbers.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

double WarmUp::share() const
{
    const double all = toUs(recorded.duration());
    return all > 0 ? oneTimeUs / all : 0;
}

std::string WarmUp::causesText() const
{
    std::string text;
    for (const OneTimePart& part : parts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", oneTimeText(part.kind), timeText(toUs(part.time)));
    return text;
}

std::vector<SliceId> WarmUp::longest() const
{
    std::vector<SliceId> slices;
    for (const OneTimePart& part : parts)
        for (const SliceId slice : part.longest)
            if (slices.size() < kMostEvidence)
                slices.push_back(slice);
    return slices;
}

WarmUp warmUp(const RuleContext& c)
{
    WarmUp found;
    const auto& steps = c.facts.steps;
    const auto& busy = c.facts.device.any;
    if (!steps.empty())
        found.recorded = {steps.front().range.begin, steps.back().range.end};
    else if (!busy.empty())
        found.recorded = {busy.front().begin, busy.back().end};
    else
        return found;
    const auto steady = std::find_if(steps.begin(), steps.end(), [](const Step& step) { return !step.warmup; });
    found.steps = static_cast<std::size_t>(steady - steps.begin());
    double us = 0;
    for (auto step = steps.begin(); step != steady; ++step)
        us += toUs(step->range.duration());
    if (c.facts.statistics.steadyCount > 0)
        found.excessUs = us - static_cast<double>(found.steps) * c.facts.statistics.steadyMeanUs;
    found.parts = oneTimeWork(c.trace, found.recorded);
    const std::vector<TimeRange> recorded{found.recorded};
    found.oneTimeUs = toUs(total(intersect(oneTimeIntervals(found.parts), recorded)));
    return found;
}

} // namespace advisor
