#include "advisor/advice.h"
#include "advisor/prediction/confidence.h"
#include "advisor/verdict.h"
#include "profiler/analysis/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

// Fewer steps do not show how much steps vary.
constexpr std::size_t kFewestSteps = 5;
// Slow steps take this many times the usual duration: more than schedulers and clocks cause on a quiet machine.
constexpr double kSlowFactor = 1.25;
// µs: an interrupt and its effect on the caches take this much of any step.
constexpr double kInterrupt = 250;
// Slow steps caused by the training itself recur. Minimum number of occurrences, or minimum share of steps: fewer may
// be caused by the machine.
constexpr std::size_t kOften = 3, kTwice = 2;
constexpr double kOftenShare = 0.15;
// Minimum share of the time: below it, slow steps do not matter.
constexpr double kMinimumShare = 0.02;
// The name of the counter in our recorder, and how long another thread then keeps the core: until the next of Linux's
// usual 250 ticks per second.
// The other names are those of traces recorded by older versions.
constexpr std::array<std::string_view, 3> kForcedSwitches = {"involuntary context switches",
                                                             "context switches, involuntary", "switches, forced"};
constexpr double kTurnSeconds = 1.0 / 250;

// Share of steps: this many of the fastest and of the slowest steps are ignored when the steps are called even.
constexpr double kTail = 0.15;
// Two groups of steps are separate if the gap between them is at least this share of the distance between their
// medians; for evenly distributed steps it is close to zero.
constexpr double kApart = 0.5;
// If a larger share of the steps is slow, the fast steps are the exception.
constexpr double kMostSlow = 2.0 / 3;

struct NamedPart {
    std::string_view name;
    Nanoseconds StepParts::*part;
};
constexpr std::array<NamedPart, 8> kParts = {{{"waiting for data", &StepParts::dataWait},
                                              {"copying", &StepParts::copy},
                                              {"forward", &StepParts::forward},
                                              {"backward", &StepParts::backward},
                                              {"the optimizer", &StepParts::optimizer},
                                              {"zero_grad", &StepParts::zeroGrad},
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

/// Steps that should be alike. Recording operators slows a step down, so if enough steps without operators remain, only
/// those are used.
std::vector<Step> comparable(const std::vector<Step>& all)
{
    std::vector<Step> steady;
    // A profile that begins in the middle of a run contains no first steps of a run, so all of its steps count.
    const bool midRun = !all.empty() && all.front().index > 0;
    for (const Step& step : all)
        if (isSteady(step) || (midRun && !step.partial))
            steady.push_back(step);
    const auto unrecorded = [](const Step& step) { return !step.opsRecorded; };
    if (static_cast<std::size_t>(std::count_if(steady.begin(), steady.end(), unrecorded)) >= kFewestSteps)
        std::erase_if(steady, [&](const Step& step) { return !unrecorded(step); });
    return steady;
}

/// How often per second the process's threads were preempted during these steps; no value if this was not recorded.
std::optional<double> interruptions(const Trace& trace, const std::vector<Step>& steps)
{
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::Counter || std::ranges::find(kForcedSwitches, track.name) == kForcedSwitches.end())
            continue;
        std::vector<double> rates;
        for (const CounterSample& sample : trace.counter(track.id)) {
            if (sample.time < steps.front().range.begin)
                continue;
            rates.push_back(sample.value);
            if (sample.time >= steps.back().range.end) // each sample covers the time up to it
                break;
        }
        if (!rates.empty())
            return mean(rates);
    }
    return std::nullopt;
}

/// Steps that take much longer than usual. Consecutive slow steps are one occurrence, because they have one cause.
struct SlowSteps {
    std::vector<Step> steps; ///< slowest first
    std::size_t occurrences = 0;
    double excessUs = 0;        ///< total time beyond the usual duration
    bool onlyBeginning = false; ///< only the first steps were slow, as usual
};
SlowSteps slowSteps(const std::vector<Step>& all, double usualUs, double limitUs)
{
    SlowSteps slow;
    bool before = false;
    for (const Step& step : all) {
        const double us = toUs(step.range.duration());
        const bool isSlow = us > limitUs;
        // Even in a profile that begins in the middle of a run, a slow first step is a start-up effect.
        slow.onlyBeginning = slow.onlyBeginning || (isSlow && !isSteady(step));
        if (isSlow && isSteady(step)) {
            slow.occurrences += before ? 0 : 1;
            slow.steps.push_back(step);
            slow.excessUs += us - usualUs;
        }
        before = isSlow && isSteady(step);
    }
    slow.onlyBeginning = slow.onlyBeginning && slow.steps.empty();
    std::stable_sort(slow.steps.begin(), slow.steps.end(),
                     [](const Step& a, const Step& b) { return a.range.duration() > b.range.duration(); });
    return slow;
}

bool isRestless(double usualUs, double us)
{
    return us > std::max(kSlowFactor * usualUs, usualUs + kInterrupt);
}

/// If half of the steps or more are slow, the median is a slow step and hides the fast ones.
struct TwoKinds {
    double usualUs = 0; ///< median of the fast steps
    double limitUs = 0; ///< between the two groups
};
/// @param us contains at least kFewestSteps steps
std::optional<TwoKinds> twoKinds(std::vector<double> us)
{
    std::sort(us.begin(), us.end());
    const auto n = static_cast<double>(us.size());
    const auto first = static_cast<std::size_t>(std::ceil(n * (1 - kMostSlow))), last = us.size() / 2;
    std::size_t split = first;
    for (std::size_t i = first; i <= last; ++i)
        if (us[i] - us[i - 1] > us[split] - us[split - 1])
            split = i;
    const auto at = us.begin() + static_cast<std::ptrdiff_t>(split);
    const double quick = percentile({us.begin(), at}, 0.5), slow = percentile({at, us.end()}, 0.5);
    if (!isRestless(quick, slow) || *at - *std::prev(at) < kApart * (slow - quick))
        return std::nullopt;
    return TwoKinds{quick, (*at + *std::prev(at)) / 2};
}

bool recurs(const SlowSteps& slow, double share)
{
    return slow.occurrences >= kOften || (slow.occurrences >= kTwice && share >= kOftenShare);
}

/// Mean cost of the slow steps per step. The rate of occurrences is estimated from the number observed; the cost of an
/// occurrence is taken as observed.
Saving costOf(const SlowSteps& slow, std::size_t steps)
{
    const auto seen = static_cast<double>(slow.occurrences);
    const ShareInterval share = shareInterval(seen, static_cast<double>(steps));
    const double each = slow.excessUs / seen;
    return perStep(share.low * each, share.mid * each, share.high * each);
}

Advice check(const RuleContext& c)
{
    const std::vector<Step> steady = comparable(c.facts.steps);
    std::vector<double> us;
    for (const Step& step : steady)
        us.push_back(toUs(step.range.duration()));
    if (steady.size() < kFewestSteps)
        return cannotTell(
            message<"step.variance.few_steps",
                    "The trace contains {steps} steady-state steps: too few to show how much steps vary.">(
                {{"steps", steady.size()}}),
            Need::Longer);
    const double median = percentile(us, 0.5);
    const std::optional<TwoKinds> kinds = twoKinds(us);
    const double usual = kinds ? kinds->usualUs : median;
    const double limit = kinds ? kinds->limitUs : std::max(kSlowFactor * median, median + kInterrupt);
    const auto [least, most] = std::minmax_element(us.begin(), us.end());
    const profiler::MessageParameter low{"low", *least, timeText(*least)}, high{"high", *most, timeText(*most)},
        middle{"median", median, timeText(median)};
    const SlowSteps slow = slowSteps(steady, usual, limit);
    if (median <= 0 || slow.onlyBeginning)
        return silent(message<"step.variance.warmup_only",
                              "Steps take {low} to {high} (median {median}) and are even after the first steps.">(
            {low, high, middle}));
    if (slow.steps.empty() && isRestless(percentile(us, kTail), percentile(us, 1 - kTail)))
        return cannotTell(
            message<"step.variance.no_outliers", "Steps vary from {low} to {high} (median {median}), but no slow steps "
                                                 "stand out: the cost and the cause are unknown.">({low, high, middle}),
            Need::Longer);
    if (slow.steps.empty())
        return silent(
            message<"step.variance.even", "Steps are even: {low} to {high}, median {median}.">({low, high, middle}));
    const profiler::MessageParameter count{"slow", slow.steps.size(), countText(slow.steps.size())},
        all{"steps", us.size(), countText(us.size())}, above{"limit", limit, timeText(limit)};
    const double share = static_cast<double>(slow.steps.size()) / static_cast<double>(us.size());
    if (slow.occurrences < kTwice && share >= kOftenShare)
        return cannotTell(
            message<"step.variance.once", "Steps vary from {low} to {high} (median {median}); {slow} of {steps} steps "
                                          "took over {limit}, all in one group: it is unknown whether this recurs.">(
                {low, high, middle, count, all, above}),
            Need::Longer);
    if (!recurs(slow, share))
        return silent(
            message<"step.variance.rare", "Slow steps occurred {occurrences}×, possibly because of the machine: {slow} "
                                          "of {steps} steps took over {limit}; {low} to {high}, median {median}.">(
                {low, high, middle, count, all, above, {"occurrences", slow.occurrences}}));
    const Saving cost = costOf(slow, us.size());
    if (cost.low < kMinimumShare * median)
        return silent(
            message<"step.variance.cheap",
                    "Slow steps recur but cost little: {slow} of {steps} steps took over {limit}, {cost} per step "
                    "on average, at least {least}; {low} to {high}, median {median}.">(
                {low,
                 high,
                 middle,
                 count,
                 all,
                 above,
                 {"cost", cost.mid, timeText(cost.mid)},
                 {"least", cost.low, timeText(cost.low)}}));
    if (const auto rate = interruptions(c.trace, steady); rate && *rate * kTurnSeconds > kSlowFactor - 1)
        return cannotTell(message<"step.variance.preempted",
                                  "Steps vary from {low} to {high} (median {median}), but threads were preempted "
                                  "{switches} times per second: the training itself may be even.">(
                              {low, high, middle, {"switches", std::round(*rate), countText(std::round(*rate))}}),
                          Need::QuietMachine);
    const NamedPart& part = varyingPart(slow.steps, steady);
    const profiler::MessageParameter costLow{"cost_low", cost.low, timeText(cost.low)},
        costHigh{"cost_high", cost.high, timeText(cost.high)};
    Advice advice = fires(
        part.part == &StepParts::other
            ? message<"step.variance.slow_steps",
                      "Steps vary from {low} to {high} (median {median}): {slow} of {steps} steps took over {limit}, "
                      "which costs {cost_low} to {cost_high} per step on average. The slowest steps lose their time "
                      "outside the marked phases.">({low, high, middle, count, all, above, costLow, costHigh})
            : message<
                  "step.variance.slow_steps_in_phase",
                  "Steps vary from {low} to {high} (median {median}): {slow} of {steps} steps took over {limit}, which "
                  "costs {cost_low} to {cost_high} per step on average. The slowest steps lose their time in {phase}.">(
                  {low, high, middle, count, all, above, costLow, costHigh, {"phase", part.name}}));
    advice.saving = cost;
    advice.timeShare = cost.mid / mean(us);
    advice.caveats = {message<"step.variance.interval",
                              "A precise mean of such uneven steps needs many steps: compare confidence intervals.">()};
    advice.whyNoToggle = message<"step.variance.no_setting", "No single setting: check what the slow steps do.">();
    std::vector<SliceId> evidence;
    for (const Step& step : slow.steps)
        evidence.push_back(step.slice);
    addEvidence(advice, c.trace, evidence);
    return advice;
}

} // namespace

Rule step_variance()
{
    return {"step.variance", "Step times vary", check, Needs::Run, kWholeStep, true};
}

} // namespace advisor::rules
