#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Fewer steps do not show a spread.
constexpr std::size_t kFewestSteps = 5;
// Slow steps take this much more than the usual one: beyond what schedulers and clocks do on a quiet machine.
constexpr double kRestless = 1.25;

struct NamedPart {
    std::string_view name;
    Nanoseconds StepParts::*part;
};
constexpr std::array<NamedPart, 8> kParts = {{{"waiting for data", &StepParts::dataWait},
                                              {"copying", &StepParts::copy},
                                              {"forward", &StepParts::forward},
                                              {"backward", &StepParts::backward},
                                              {"the optimizer", &StepParts::optimizer},
                                              {"zeroing gradients", &StepParts::zeroGrad},
                                              {"metrics", &StepParts::metrics},
                                              {"no named part", &StepParts::other}}};

/// The part in which the slowest steps differ most from the median step.
const NamedPart& varyingPart(const std::vector<Step>& slow, const std::vector<Step>& all)
{
    const auto excess = [&](const NamedPart& part) {
        std::vector<double> usual, slowest;
        for (const Step& step : all)
            usual.push_back(toUs(step.parts.*part.part));
        for (const Step& step : slow)
            slowest.push_back(toUs(step.parts.*part.part));
        return mean(slowest) - percentile(std::move(usual), 0.5);
    };
    return *std::max_element(kParts.begin(), kParts.end(),
                             [&](const NamedPart& a, const NamedPart& b) { return excess(a) < excess(b); });
}

Advice check(const Case& c)
{
    std::vector<Step> steady;
    std::vector<double> us;
    // A profile that begins in the middle of a run holds no first steps: each of its steps is one like the others.
    const bool midRun = !c.facts.steps.empty() && c.facts.steps.front().index > 0;
    for (const Step& step : c.facts.steps)
        if (isSteady(step) || (midRun && !step.partial)) {
            steady.push_back(step);
            us.push_back(toUs(step.range.duration()));
        }
    if (steady.size() < kFewestSteps)
        return cannotTell(fmt::format("{} steady step{} not show how much steps vary.", steady.size(),
                                      steady.size() == 1 ? " does" : "s do"));
    const double median = percentile(us, 0.5);
    const double slow = percentile(us, 0.9);
    const auto [least, most] = std::minmax_element(us.begin(), us.end());
    const std::string range =
        fmt::format("from {} to {}, median {}", timeText(*least), timeText(*most), timeText(median));
    if (median <= 0 || slow < kRestless * median)
        return silent(fmt::format("Steps are even: {}, nine of ten under {}.", range, timeText(slow)));
    std::stable_sort(steady.begin(), steady.end(),
                     [](const Step& a, const Step& b) { return a.range.duration() > b.range.duration(); });
    const std::vector<Step> slowest(
        steady.begin(), steady.begin() + std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(steady.size() / 10)));
    Advice advice = fires(fmt::format("Steps vary: {}; one in ten takes over {}. The slowest lose their time in {}.",
                                      range, timeText(slow), varyingPart(slowest, steady).name));
    advice.saving = perStep(0, mean(us) - median, slow - median);
    advice.caveats = {"Means of so uneven steps need many of them: judge changes by the interval."};
    advice.whyNoToggle = "No single setting: look at what the slow steps do.";
    std::vector<SliceId> evidence;
    for (const Step& step : slowest)
        evidence.push_back(step.slice);
    addEvidence(advice, c.trace, evidence);
    return advice;
}

} // namespace

Rule step_variance()
{
    return {"step.variance", "Steps take unequal time", check};
}

} // namespace advisor::rules
