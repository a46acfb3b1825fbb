#include "advisor/advice.h"
#include "advisor/evidence/program_facts.h"
#include "advisor/evidence/source_lines.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "model.loop";
// Calls of the model per backward pass. Chosen: networks with several inputs (pairs, triplets, augmented views) call it
// two to four times.
constexpr double kMostCalls = 8;
// Share of forward and backward in the step, as in host_python.cpp.
constexpr double kMinimumShare = 0.1;
// How often a line repeats a function of PyTorch in one forward pass. Chosen: refinements and unrolled iterations
// repeat a block of layers up to about ten times, loops over time or elements hundreds of times.
constexpr std::int64_t kMostRepeats = 16;
// Time of one function of a line, in µs, up to which starting it costs as much as computing. Measured on one core: 3 to
// 10 µs for an operator on a few numbers, 25 to 100 µs for one of PyTorch's recurrent cells, which run several.
constexpr double kSmallUs = 100;
constexpr std::int64_t kMinimumSamples = 10;

/// The steady steps, with the times in which no device works: nothing hides the host's time in these.
struct Steady {
    std::vector<TimeRange> steps;
    Intervals exposed;
};

Steady steadyTimes(const RuleContext& c)
{
    Steady found;
    for (const Step& step : c.facts.steps)
        if (isSteady(step))
            found.steps.push_back(step.range);
    std::vector<TimeRange> device;
    for (const ActivityKind kind : {ActivityKind::Kernel, ActivityKind::GpuMemcpy, ActivityKind::GpuMemset})
        for (const Slice& work : c.trace.ofKind(kind))
            device.push_back(work.range());
    found.exposed = subtract(unite(std::vector(found.steps)), unite(std::move(device)));
    return found;
}

/// The passes of one kind in steady steps, on the track of the steps.
std::vector<Slice> passes(const RuleContext& c, const Steady& steady, std::string_view name)
{
    const TrackId track = c.facts.steps.front().slice.track;
    std::vector<Slice> found = ofKindNamed(c.trace, ActivityKind::Phase, [&](std::string_view n) { return n == name; });
    std::erase_if(found, [&](const Slice& pass) {
        return pass.id.track != track ||
               std::ranges::none_of(steady.steps, [&](const TimeRange& step) { return step.contains(pass.begin); });
    });
    return found;
}

/// Exposed times of the passes and of `more` in each steady step, in µs.
std::vector<double> inEachStep(const Steady& steady, const std::vector<Slice>& passes, Intervals more)
{
    std::vector<TimeRange> ranges = std::move(more);
    for (const Slice& pass : passes)
        ranges.push_back(pass.range());
    const Intervals times = intersect(unite(std::move(ranges)), steady.exposed);
    std::vector<double> us;
    for (const TimeRange& step : steady.steps) {
        Nanoseconds sum{};
        for (const TimeRange& part : overlapping(times, step))
            sum += part.clippedTo(step).duration();
        us.push_back(toUs(sum));
    }
    return us;
}

double meanOf(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += value;
    return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// The calling line with the most forward passes; nullptr: unknown.
const ProgramObject* callOfModel(const ProgramFacts& program)
{
    const ProgramObject* most = nullptr;
    for (const ProgramObject* call : program.ofKind("forward"))
        if (call->site && (!most || call->count > most->count))
            most = call;
    return most;
}

Advice found(const RuleContext& c, Message reason, std::vector<double> mostUs, std::span<const Slice> evidence)
{
    Advice advice = fires(std::move(reason));
    const double stepUs = c.facts.statistics.steadyMeanUs;
    advice.timeShare = std::min(1.0, meanOf(mostUs) / stepUs);
    advice.saving = limited(upperBoundOverSteps(mostUs), stepUs);
    advice.whyNoToggle = message<"model.loop.no_toggle", "No setting changes it: compute on whole tensors.">();
    addEvidence(advice, c.trace, evidence);
    return advice;
}

/// A model that is called for each sample. One call remains.
Advice ofCalls(const RuleContext& c, const Steady& steady, const ProgramFacts* program, double calls,
               const std::vector<Slice>& forward, const std::vector<Slice>& backward)
{
    std::vector<Slice> both = forward;
    both.insert(both.end(), backward.begin(), backward.end());
    std::vector<double> us = inEachStep(steady, both, {});
    const double share = meanOf(us) / c.facts.statistics.steadyMeanUs;
    const MessageParameter shown("share", share, shareText(share));
    const MessageParameter count("calls", calls, countText(calls));
    if (share < kMinimumShare)
        return silent(message<"model.loop.calls_little", "The model is called {calls} times per backward pass, but "
                                                         "these passes take only {share} of a step.">({count, shown}));
    for (double& step : us)
        step *= 1 - 1 / calls;
    Advice advice =
        found(c,
              message<"model.loop.calls", "The model is called {calls} times per backward pass. Forward and "
                                          "backward take {share} of each step.">({count, shown}),
              std::move(us), forward);
    advice.caveats = {
        message<"model.loop.dependent", "Calls whose input is the output of an earlier call cannot be one call.">(),
        message<"model.loop.batch_norm", "Batch norm computes its statistics over all samples of one call.">()};
    if (const ProgramObject* call = program ? callOfModel(*program) : nullptr) {
        advice.source = {*call->site};
        advice.source[0].what = countText(calls) + " calls per backward pass";
    }
    return advice;
}

/// The lines of one function that repeat operators in each forward pass.
struct Loop {
    const RepeatingLine* longest = nullptr; ///< the line with most time
    double longestUs = 0;
    double us = 0; ///< per step, of all lines
    std::int64_t samples = 0;
    std::vector<std::pair<double, const RepeatingLine*>> lines;
};

bool isCell(const RepeatingLine& line)
{
    return line.function == "lstm_cell" || line.function == "gru_cell" || line.function == "rnn_tanh_cell" ||
           line.function == "rnn_relu_cell";
}

/// The function whose repeating lines take most time.
/// @param forwards  forward passes per step
Loop longestLoop(const ProgramFacts& program, const SourceLines& sampled, double stepUs, double forwards)
{
    std::map<std::pair<std::string, std::string>, Loop> loops;
    for (const RepeatingLine& line : program.repeatingLines) {
        if (line.repeats < kMostRepeats || !line.site)
            continue;
        double us = 0;
        std::int64_t samples = 0;
        for (const SourceLine& other : sampled.lines)
            if (other.file == line.site->file && other.line >= line.site->line && other.line <= line.site->endLine) {
                us += sampled.sampledUs > 0 ? other.selfUs / sampled.sampledUs * stepUs : 0;
                samples += other.samples;
            }
        const double ofOneUs = us / (static_cast<double>(line.count) * std::max(forwards, 1.0));
        if (us <= 0 || (ofOneUs > kSmallUs && !isCell(line)))
            continue;
        Loop& loop = loops[{line.site->file, line.site->function}];
        loop.us += us;
        loop.samples += samples;
        loop.lines.emplace_back(us, &line);
        if (us > loop.longestUs) {
            loop.longestUs = us;
            loop.longest = &line;
        }
    }
    const auto most = std::ranges::max_element(loops, {}, [](const auto& entry) { return entry.second.us; });
    return most == loops.end() ? Loop() : most->second;
}

Advice ofLines(const RuleContext& c, const Steady& steady, const ProgramFacts& program, double forwards,
               const std::vector<Slice>& forward, const std::vector<Slice>& backward)
{
    const double stepUs = c.facts.statistics.steadyMeanUs;
    const SourceLines sampled = sourceLines(c.trace, &steady.exposed);
    if (!sampled.problem.empty())
        return cannotTell(message<"model.loop.no_lines", "The lines of the program were not sampled.">(),
                          Need::Program);
    double exposedUs = 0;
    for (const TimeRange& range : steady.exposed)
        exposedUs += toUs(range.duration()) / static_cast<double>(steady.steps.size());
    Loop loop = longestLoop(program, sampled, exposedUs, forwards);
    const double share = loop.us / stepUs;
    if (!loop.longest || share < kMinimumShare || loop.samples < kMinimumSamples)
        return silent(message<"model.loop.little", "No line of the model repeats small operators for more than {share} "
                                                   "of a step.">({{"share", kMinimumShare, shareText(kMinimumShare)}}));
    const RepeatingLine& line = *loop.longest;
    const std::string place =
        line.site->file.substr(line.site->file.rfind('/') + 1) + ':' + std::to_string(line.site->line);
    const std::initializer_list<MessageParameter> parameters = {
        {"place", place},      {"function", line.function},          {"repeats", line.repeats},
        {"count", line.count}, {"time", loop.us, timeText(loop.us)}, {"share", share, shareText(share)}};
    std::vector<double> us = inEachStep(steady, backward, {});
    for (double& step : us)
        step += loop.us;
    Advice advice =
        found(c,
              isCell(line) ? message<"model.loop.cell", "Line {place} calls {function} {repeats} times in a forward "
                                                        "pass. The loop's lines take {time} ({share}) of each step, "
                                                        "without their backward pass.">(parameters)
                           : message<"model.loop.lines",
                                     "Line {place} calls PyTorch {count} times in a forward pass ({function} {repeats} "
                                     "times). The lines of this loop take {time} ({share}) of each step.">(parameters),
              std::move(us), forward);
    if (!isCell(line)) // others may compute without gradients, as those of a mask do
        advice.timeShare = std::min(1.0, share);
    advice.caveats = {
        isCell(line)
            ? message<"model.loop.sequence",
                      "nn.LSTM, nn.GRU or nn.RNN compute the whole sequence in one call, but only if the input "
                      "of a time step does not depend on the output of an earlier one.">()
            : message<"model.loop.elements", "Iterations that need the result of an earlier one can only be "
                                             "made fewer or cheaper.">(),
        message<"model.loop.first", "Calls were counted in the first forward pass; times of lines are estimates from "
                                    "{samples} samples.">({{"samples", loop.samples}})};
    std::ranges::stable_sort(loop.lines, std::ranges::greater(), &std::pair<double, const RepeatingLine*>::first);
    loop.lines.resize(std::min<std::size_t>(loop.lines.size(), 3));
    for (const auto& [lineUs, repeating] : loop.lines) {
        advice.source.push_back(*repeating->site);
        advice.source.back().what = shareText(lineUs / stepUs) + " of the step";
    }
    return advice;
}

Advice check(const RuleContext& c)
{
    if (c.config)
        return silent(message<"model.loop.trainer", "The trainer calls its models once per batch.">());
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const Steady steady = steadyTimes(c);
    const std::vector<Slice> forward = passes(c, steady, phase::kForward);
    const std::vector<Slice> backward = passes(c, steady, phase::kBackward);
    if (forward.empty())
        return cannotTell(message<"model.loop.no_forward", "The trace does not mark the forward passes.">(),
                          Need::Program);
    const std::optional<ProgramFacts> program = programOf(c.trace).facts;
    const double calls =
        static_cast<double>(forward.size()) / static_cast<double>(std::max<std::size_t>(backward.size(), 1));
    if (calls >= kMostCalls && !backward.empty())
        return ofCalls(c, steady, program ? &*program : nullptr, calls, forward, backward);
    if (!program || !program->countedLines)
        return cannotTell(message<"model.loop.not_counted", "The calls of the program's lines were not counted.">(),
                          Need::Program);
    return ofLines(c, steady, *program, static_cast<double>(forward.size()) / static_cast<double>(steady.steps.size()),
                   forward, backward);
}

} // namespace

Rule model_loop()
{
    return {kKey, "The model computes in a Python loop", check, Needs::Steps, kHostWork};
}

} // namespace advisor::rules
