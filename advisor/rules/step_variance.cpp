#include "advisor/numbers.h"
#include "advisor/verdict.h"
#include "profiler/analysis/percentile.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Fewer steps do not show a spread.
constexpr std::size_t kFewestSteps = 5;
// Slow steps take this much more than the usual one: beyond what schedulers and clocks do on a quiet machine.
constexpr double kRestless = 1.25;
// µs: an interrupt, and what it leaves in the caches, takes as much of any step.
constexpr double kInterrupt = 250;
// What our recorder calls them; and how long another thread then keeps the core: to the next of Linux's usual 250 ticks
// a second.
constexpr std::string_view kForcedSwitches = "switches, forced";
constexpr double kTurnSeconds = 1.0 / 250;

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
                                              {"other", &StepParts::other}}};

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

/// Steps that are to be alike. Recording operators slows a step down: where enough others are left, those are judged.
std::vector<Step> comparable(const std::vector<Step>& all)
{
    std::vector<Step> steady;
    // A profile that begins in the middle of a run holds no first steps: each of its steps is one like the others.
    const bool midRun = !all.empty() && all.front().index > 0;
    for (const Step& step : all)
        if (isSteady(step) || (midRun && !step.partial))
            steady.push_back(step);
    const auto unrecorded = [](const Step& step) { return !step.opsRecorded; };
    if (static_cast<std::size_t>(std::count_if(steady.begin(), steady.end(), unrecorded)) >= kFewestSteps)
        std::erase_if(steady, [&](const Step& step) { return !unrecorded(step); });
    return steady;
}

/// How often a second the process's threads were put off a core that they wanted to stay on, while these steps ran; no
/// value where that was not recorded.
std::optional<double> interruptions(const Trace& trace, const std::vector<Step>& steps)
{
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::Counter || track.name != kForcedSwitches)
            continue;
        std::vector<double> rates;
        for (const CounterSample& sample : trace.counter(track.id)) {
            if (sample.time < steps.front().range.begin)
                continue;
            rates.push_back(sample.value);
            if (sample.time >= steps.back().range.end) // each is of the time up to it
                break;
        }
        if (!rates.empty())
            return mean(rates);
    }
    return std::nullopt;
}

Advice check(const Case& c)
{
    std::vector<Step> steady = comparable(c.facts.steps);
    std::vector<double> us;
    for (const Step& step : steady)
        us.push_back(toUs(step.range.duration()));
    if (steady.size() < kFewestSteps)
        return cannotTell(fmt::format("{} steady step{} not show how much steps vary.", steady.size(),
                                      steady.size() == 1 ? " does" : "s do"));
    const double median = percentile(us, 0.5);
    const double slow = percentile(us, 0.9);
    // In a profile that begins in the middle of a run, too, a slow first step is a beginning.
    double slowestSteady = 0;
    for (const Step& step : steady)
        if (isSteady(step))
            slowestSteady = std::max(slowestSteady, toUs(step.range.duration()));
    const auto [least, most] = std::minmax_element(us.begin(), us.end());
    const std::string range =
        fmt::format("from {} to {}, median {}", timeText(*least), timeText(*most), timeText(median));
    if (median <= 0 || slow < std::max(kRestless * median, median + kInterrupt))
        return silent(fmt::format("Steps are even: {}, nine of ten under {}.", range, timeText(slow)));
    if (slowestSteady <= kRestless * median)
        return silent(fmt::format("Steps are even but for their beginning: {}, the slowest steady one {}.", range,
                                  timeText(slowestSteady)));
    if (const auto rate = interruptions(c.trace, steady); rate && *rate * kTurnSeconds > kRestless - 1)
        return cannotTell(fmt::format(
            "Steps vary ({}), but {:.0f} times a second a thread lost its core to another one: whether the training "
            "itself varies is not to be seen. Give it fewer threads than there are cores (run.threads, "
            "loader.workers), or a machine for itself.",
            range, *rate));
    std::stable_sort(steady.begin(), steady.end(),
                     [](const Step& a, const Step& b) { return a.range.duration() > b.range.duration(); });
    const std::vector<Step> slowest(
        steady.begin(), steady.begin() + std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(steady.size() / 10)));
    const NamedPart& part = varyingPart(slowest, steady);
    Advice advice = fires(fmt::format(
        "Steps vary: {}; one in ten takes over {}. {}", range, timeText(slow),
        part.part == &StepParts::other ? "No part of a step that the trace marks is where the slowest lose their time."
                                       : fmt::format("The slowest lose their time in {}.", part.name)));
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
    return {"step.variance", "Steps take unequal time", check, Needs::Run};
}

} // namespace advisor::rules
