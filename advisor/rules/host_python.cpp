#include "advisor/advice.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/evidence/source_lines.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <string>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "host.python";
// Minimum share of the step. Chosen: with less, rewriting code gains less than most other changes.
constexpr double kMinimumShare = 0.1;
// Minimum number of samples: the share of a line with 10 samples is known to about a third.
constexpr std::int64_t kMinimumSamples = 10;
// A line that runs most of its time inside phases, such as a call of a framework's trainer, is not the cause.
constexpr double kMostlyOutside = 0.5;
constexpr std::size_t kMostLines = 3;
constexpr std::string_view kLoss = "loss"; // the phase, see resources/python/stepscope/phases.py

std::vector<TimeRange> steadySteps(const RuleContext& c)
{
    std::vector<TimeRange> steps;
    for (const Step& step : c.facts.steps)
        if (isSteady(step))
            steps.push_back(step.range);
    return steps;
}

/// Times in steady steps that nothing hides, because no device works.
struct Exposed {
    Intervals gaps; ///< the training thread is in no phase
    Intervals loss; ///< it is in the phase between the forward and the backward pass
};

Exposed exposedTimes(const RuleContext& c, const Intervals& steps)
{
    const TrackId track = c.facts.steps.front().slice.track;
    UnionBuilder phases, losses;
    for (const Slice& phase : c.trace.ofKind(ActivityKind::Phase))
        if (phase.id.track == track)
            (c.trace.name(phase) == kLoss ? losses : phases).add(phase.range());
    std::vector<TimeRange> device;
    for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
        for (const Slice& work : c.trace.ofKind(kind))
            device.push_back(work.range());
    const Intervals hidden = unite(phases.take(), unite(std::move(device))), loss = losses.take();
    return {.gaps = subtract(steps, unite(hidden, loss)), .loss = subtract(intersect(steps, loss), hidden)};
}

std::vector<double> inEachStep(const std::vector<TimeRange>& steps, const Intervals& times)
{
    std::vector<double> us;
    for (const TimeRange& step : steps) {
        Nanoseconds sum{};
        for (const TimeRange& part : overlapping(times, step))
            sum += part.clippedTo(step).duration();
        us.push_back(toUs(sum));
    }
    return us;
}

/// Lines of one loop, or a single line.
struct Hot {
    SourceLine longest;
    double us = 0, lossUs = 0; ///< outside of the phases; between forward and backward
    std::int64_t samples = 0;
    [[nodiscard]] double sum() const { return us + lossUs; }
};

void add(std::vector<Hot>& found, const SourceLine& line, bool isLoss)
{
    const auto same = std::ranges::find_if(found, [&](const Hot& hot) {
        return hot.longest.file == line.file && hot.longest.loopBegin == line.loopBegin &&
               hot.longest.loopEnd == line.loopEnd && (line.loopBegin > 0 || hot.longest.line == line.line);
    });
    Hot& hot = same != found.end() ? *same : found.emplace_back();
    if (line.selfUs > hot.longest.selfUs)
        hot.longest = line;
    (isLoss ? hot.lossUs : hot.us) += line.selfUs;
    hot.samples += line.samples;
}

/// The lines that spend most of their time outside the phases, by loop, longest first. Between forward and backward,
/// only loops count: everything else there is usually the loss function.
/// @param outside, loss, all  lines with their times outside the phases, in the loss, and in whole steps
std::vector<Hot> linesOutside(const SourceLines& outside, const SourceLines& loss, const SourceLines& all)
{
    std::vector<Hot> found;
    const auto isMostlyIn = [&](const SourceLine& line) {
        const auto whole = std::ranges::find_if(all.lines, [&](const SourceLine& other) {
            return other.line == line.line && other.file == line.file && other.function == line.function;
        });
        return line.selfUs > 0 && whole != all.lines.end() && line.selfUs >= kMostlyOutside * whole->selfUs;
    };
    for (const SourceLine& line : outside.lines)
        if (isMostlyIn(line))
            add(found, line, false);
    for (const SourceLine& line : loss.lines)
        if (line.loopBegin > 0 && isMostlyIn(line))
            add(found, line, true);
    std::ranges::stable_sort(found, std::ranges::greater(), &Hot::sum);
    return found;
}

/// "train.py:12", or "train.py:12–15" for a loop.
std::string placeText(const SourceLine& line)
{
    const std::string file = line.file.substr(line.file.rfind('/') + 1) + ':';
    if (line.loopBegin == 0)
        return file + std::to_string(line.line);
    return file + std::to_string(line.loopBegin) +
           (line.loopEnd > line.loopBegin ? "–" + std::to_string(line.loopEnd) : std::string());
}

/// The longest of the times, as places on the track of the steps.
std::vector<Evidence> longestOf(Intervals times, TrackId track)
{
    std::ranges::stable_sort(times, std::ranges::greater(), &TimeRange::duration);
    times.resize(std::min(times.size(), kMostEvidence));
    std::vector<Evidence> found;
    for (const TimeRange& range : times)
        found.push_back({.track = track, .slice = {}, .range = range, .name = "outside of the phases"});
    return found;
}

Advice check(const RuleContext& c)
{
    if (c.config)
        return silent(message<"host.python.trainer", "The trainer runs no code of the user between the phases.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const std::vector<TimeRange> steps = steadySteps(c);
    const Intervals within = unite(steps);
    const SourceLines all = sourceLines(c.trace, &within);
    if (!all.problem.empty())
        return cannotTell(message<"host.python.no_lines", "The lines of the program were not sampled.">(),
                          Need::Program);
    const Exposed exposed = exposedTimes(c, within);
    const std::vector<Hot> lines =
        linesOutside(sourceLines(c.trace, &exposed.gaps), sourceLines(c.trace, &exposed.loss), all);
    std::int64_t samples = 0;
    double us = 0, lossUs = 0;
    for (const Hot& hot : lines) {
        samples += hot.samples;
        us += hot.sum();
        lossUs += hot.lossUs;
    }
    const double share = all.sampledUs > 0 ? us / all.sampledUs : 0;
    if (all.samples < kMinimumSamples)
        return cannotTell(message<"host.python.few_samples", "The lines of the program were sampled only {samples} "
                                                             "times.">({{"samples", all.samples}}),
                          Need::Longer);
    const MessageParameter shown("share", share, shareText(share));
    if (share < kMinimumShare || samples < kMinimumSamples)
        return silent(message<"host.python.little",
                              "The program's own code outside of data loading, the model and the optimizer takes "
                              "{share} of a step.">({shown}));
    const double most = lines.front().sum() / all.sampledUs;
    const double stepUs = c.facts.statistics.steadyMeanUs;
    const std::initializer_list<MessageParameter> parameters = {{"time", share * stepUs, timeText(share * stepUs)},
                                                                shown,
                                                                {"place", placeText(lines.front().longest)},
                                                                {"function", lines.front().longest.function},
                                                                {"most", most, shareText(most)}};
    Advice advice = fires(
        lines.front().longest.loopBegin > 0
            ? message<"host.python.loop",
                      "Each step spends {time} ({share}) in the program's own code outside of data "
                      "loading, the model and the optimizer. The loop at {place} ({function}) takes "
                      "{most}.">(parameters)
            : message<"host.python.much", "Each step spends {time} ({share}) in the program's own code outside of data "
                                          "loading, the model and the optimizer. Line {place} alone takes {most}.">(
                  parameters));
    advice.timeShare = std::min(1.0, share);
    std::vector<double> mostUs = inEachStep(steps, exposed.gaps);
    for (double& step : mostUs)
        step += lossUs / all.sampledUs * stepUs;
    advice.saving = limited(upperBoundOverSteps(mostUs), stepUs);
    advice.whyNoToggle = message<"host.python.no_toggle", "No setting changes it: change these lines.">();
    advice.caveats = {
        message<"host.python.sampled", "Times of lines are estimates from {samples} samples.">({{"samples", samples}})};
    advice.evidence = longestOf(lossUs > us / 2 ? exposed.loss : exposed.gaps, c.facts.steps.front().slice.track);
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
        const SourceLine& line = lines[i].longest;
        const double part = lines[i].sum() / all.sampledUs;
        if (part >= most / 10)
            advice.source.push_back({.file = line.file,
                                     .line = line.line,
                                     .endLine = line.line,
                                     .function = line.function,
                                     .what = shareText(part) + " of the step"});
    }
    return advice;
}

} // namespace

Rule host_python()
{
    return {kKey, "Code around the model slows the step", check, Needs::Steps, kHostWork};
}

} // namespace advisor::rules
