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

std::vector<TimeRange> steadySteps(const RuleContext& c)
{
    std::vector<TimeRange> steps;
    for (const Step& step : c.facts.steps)
        if (isSteady(step))
            steps.push_back(step.range);
    return steps;
}

/// Times in steady steps in which the training thread is in no phase and no device works: nothing hides this time.
Intervals outsidePhases(const RuleContext& c, const Intervals& steps)
{
    const TrackId track = c.facts.steps.front().slice.track;
    UnionBuilder hidden;
    for (const Slice& phase : c.trace.ofKind(ActivityKind::Phase))
        if (phase.id.track == track)
            hidden.add(phase.range());
    std::vector<TimeRange> device;
    for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
        for (const Slice& work : c.trace.ofKind(kind))
            device.push_back(work.range());
    return subtract(steps, unite(hidden.take(), unite(std::move(device))));
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

/// The lines that spend most of their time outside the phases, longest first.
/// @param outside, all  lines with their times outside the phases and in whole steps
std::vector<SourceLine> linesOutside(const SourceLines& outside, const SourceLines& all)
{
    std::vector<SourceLine> found;
    for (const SourceLine& line : outside.lines) {
        const auto whole = std::ranges::find_if(all.lines, [&](const SourceLine& other) {
            return other.line == line.line && other.file == line.file && other.function == line.function;
        });
        if (line.selfUs > 0 && whole != all.lines.end() && line.selfUs >= kMostlyOutside * whole->selfUs)
            found.push_back(line);
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &SourceLine::selfUs);
    return found;
}

std::string placeText(const SourceLine& line)
{
    return line.file.substr(line.file.rfind('/') + 1) + ':' + std::to_string(line.line);
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
    const Intervals gaps = outsidePhases(c, within);
    const SourceLines outside = sourceLines(c.trace, &gaps);
    const std::vector<SourceLine> lines = linesOutside(outside, all);
    std::int64_t samples = 0;
    double us = 0;
    for (const SourceLine& line : lines) {
        samples += line.samples;
        us += line.selfUs;
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
    const double most = lines.front().selfUs / all.sampledUs;
    const double stepUs = c.facts.statistics.steadyMeanUs;
    Advice advice =
        fires(message<"host.python.much", "Each step spends {time} ({share}) in the program's own code outside of data "
                                          "loading, the model and the optimizer. Line {place} alone takes {most}.">(
            {{"time", share * stepUs, timeText(share * stepUs)},
             shown,
             {"place", placeText(lines.front())},
             {"most", most, shareText(most)}}));
    advice.timeShare = std::min(1.0, share);
    advice.saving = limited(upperBoundOverSteps(inEachStep(steps, gaps)), stepUs);
    advice.whyNoToggle = message<"host.python.no_toggle", "No setting changes it: change these lines.">();
    advice.caveats = {
        message<"host.python.sampled", "Times of lines are estimates from {samples} samples.">({{"samples", samples}})};
    advice.evidence = longestOf(gaps, c.facts.steps.front().slice.track);
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
        const double part = lines[i].selfUs / all.sampledUs;
        if (part >= most / 10)
            advice.source.push_back({.file = lines[i].file,
                                     .line = lines[i].line,
                                     .endLine = lines[i].line,
                                     .function = lines[i].function,
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
