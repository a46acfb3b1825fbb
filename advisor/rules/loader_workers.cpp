#include "advisor/advice.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/loader_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <algorithm>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.workers";
// Minimum share of the step: below it, the host memory of more workers is not worth the gain.
constexpr double kMinimumShare = 0.05;
// Below this share of the step, an experiment cannot distinguish a saving from noise.
constexpr double kLeastGain = 0.01;
// If a smaller number of workers saves as much as the best number, within this share of the step, it is preferred
// because it costs less memory.
constexpr double kSameGain = 0.02;
// The rule of thumb of tips.md, if the trace does not allow a better estimate.
constexpr int kWorkersPerGpu = 4;
constexpr int kMostWorkers = 16;

int currentWorkers(const RuleContext& c)
{
    return loaderWorkers(c);
}

int prefetchFactor(const RuleContext& c)
{
    return loaderPrefetchFactor(c).value_or(LoaderSetup{}.prefetchFactor);
}

int thumbWorkers(const RuleContext& c)
{
    // An imported trace lists all devices of the machine, not only those that its process used.
    const int devices = c.config ? static_cast<int>(c.trace.devices().size()) : c.facts.device.devices;
    return kWorkersPerGpu * std::max(1, devices);
}

struct Choice {
    int workers = 0;
    InputPrediction saved;
};

/// Chooses the smallest number of workers that saves about as much as the best number, by the model alone: the noise of
/// the recording makes the saving uncertain, but is no reason to expect none.
Choice choose(const RuleContext& c, const InputModel& model, int now)
{
    const int most = std::min(kMostWorkers, model.cores > 0 ? model.cores : thumbWorkers(c));
    const LoaderSetup present{now, prefetchFactor(c)};
    std::vector<Choice> choices;
    for (int workers = 1; workers <= most; ++workers)
        if (workers != now)
            choices.push_back(
                {workers, predictInput(model, present, {workers, present.prefetchFactor}, computeThreads(c))});
    if (choices.empty())
        return {.workers = now, .saved = {}};
    const double best = std::max_element(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
                            return a.saved.modelUs < b.saved.modelUs;
                        })->saved.modelUs;
    return *std::find_if(choices.begin(), choices.end(),
                         [&](const Choice& choice) { return choice.saved.modelUs >= best - kSameGain * model.stepUs; });
}

/// PyTorch's profiler records the name of the loader iterator, but not the worker processes.
bool loadsInWorkers(const Trace& trace)
{
    return anyName(trace, [](std::string_view name) {
        return name.starts_with("enumerate(DataLoader)#_MultiProcessingDataLoaderIter");
    });
}

Message waitMessage(const InputWait& input)
{
    const MessageParameter share{"share", input.waitShare, shareText(input.waitShare)};
    const MessageParameter wait{"wait", input.waitUsPerStep, timeText(input.waitUsPerStep)};
    const double stepUs = input.waitUsPerStep + input.computeUsPerStep;
    const MessageParameter step{"step", stepUs, timeText(stepUs)};
    if (input.loadUsPerBatch <= 0)
        return message<"loader.workers.wait",
                       "The step spends {share} of its time waiting for data ({wait} of {step}).">({share, wait, step});
    const MessageParameter load{"load", input.loadUsPerBatch, timeText(input.loadUsPerBatch)};
    if (input.stages.empty())
        return message<
            "loader.workers.wait_load",
            "The step spends {share} of its time waiting for data ({wait} of {step}): a batch takes {load} to load.">(
            {share, wait, step, load});
    const InputWait::Stage& first = input.stages.front();
    return message<"loader.workers.wait_stage",
                   "The step spends {share} of its time waiting for data ({wait} of {step}): a batch takes {load} to "
                   "load, {part} of it in the stage {stage}.">(
        {share, wait, step, load, {"part", first.share, shareText(first.share)}, {"stage", first.name}});
}

/// @param workers 0: unknown
void addCaveats(Advice& advice, const RuleContext& c, int workers)
{
    if (workers > 0)
        advice.caveats.push_back(
            message<"loader.workers.memory", "Host memory holds up to {batches} batches: workers × prefetch factor.">(
                {{"batches", workers * prefetchFactor(c)}}));
    const int cores = c.facts.input.cores;
    if (cores == 0)
        advice.caveats.push_back(
            message<"loader.workers.cores_unknown", "The trace does not record how many cores the run could use: using "
                                                    "more workers than cores is slow.">());
    else if (workers + computeThreads(c) > cores)
        advice.caveats.push_back(
            message<"loader.workers.cores_shared", "Workers and training share {cores} cores, which widens the range "
                                                   "of the estimate; more workers would slow both down.">(
                {{"cores", cores}}));
    if (!c.config)
        advice.caveats.push_back(
            message<"loader.workers.streams",
                    "A streaming (iterable) dataset must be sharded by worker, or samples appear twice.">());
}

/// Without recorded stages, replay is impossible: uses the rule of thumb and gives no estimate.
Advice withoutModel(const RuleContext& c, int now)
{
    const int cores = c.facts.input.cores;
    const int most = cores > 0 ? std::min(thumbWorkers(c), cores) : thumbWorkers(c);
    const bool unknown = !c.config && now == 0 && loadsInWorkers(c.trace);
    Advice advice = fires(waitMessage(c.facts.input));
    advice.timeShare = c.facts.input.waitShare;
    // The saving is at most the time that devices idle for lack of data, because the stages needed for a replay are not
    // recorded.
    advice.saving = upperBound(SavingUnit::UsPerStep, c.facts.input.idleWaitUsPerStep);
    if (unknown)
        advice.whyNoToggle = message<
            "loader.workers.count_unknown",
            "Loader workers are already used (_MultiProcessingDataLoaderIter), but their number is not recorded. More "
            "workers help only while cores are free; otherwise, make loading cheaper: see augment.device.">();
    else if (now >= most)
        advice.whyNoToggle =
            message<"loader.workers.enough", "{workers} loader workers are already used, as many as the rule of thumb "
                                             "suggests: make loading cheaper, see augment.device.">({{"workers", now}});
    else
        setToggle(advice, c, kKey, std::to_string(most));
    addCaveats(advice, c, unknown ? 0 : std::max(now, most));
    return advice;
}

/// Share of the time in which devices idle because they wait for data, without the longest such gap, in which workers
/// start. 0 if there are too few gaps to show a pattern.
double waitsWithoutTheStart(const RuleContext& c)
{
    constexpr std::size_t kFewest = 3;
    const IdleCause* data = c.facts.device.idleCause("data_loader");
    if (!data || data->where.size() < kFewest)
        return 0;
    const auto longest = std::max_element(data->where.begin(), data->where.end(),
                                          [](TimeRange a, TimeRange b) { return a.duration() < b.duration(); });
    return c.facts.device.idleShare("data_loader") * (1 - toUs(longest->duration()) / toUs(total(data->where)));
}

/// The finding for an imported trace without step marks: how long its devices idle while the main thread waits for
/// data.
std::optional<Advice> withoutSteps(const RuleContext& c)
{
    const double share = waitsWithoutTheStart(c);
    if (c.config || c.facts.statistics.count > 0 || share < kMinimumShare)
        return std::nullopt;
    Advice advice = fires(message<"loader.workers.without_steps",
                                  "The GPU idles {share} of the recorded time while the program waits for "
                                  "data, not counting the longest wait. The trace has no step marks.">(
        {{"share", share, shareText(share)}}));
    advice.timeShare = share;
    advice.whyNoPrediction = noStepMarks("the saving per step is unknown");
    const int workers = thumbWorkers(c);
    setToggle(advice, c, kKey, std::to_string(workers));
    addCaveats(advice, c, workers);
    if (const IdleCause* data = c.facts.device.idleCause("data_loader"))
        advice.evidence = longestGaps(c, *data);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (auto advice = withoutSteps(c))
        return *advice;
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const InputWait& input = c.facts.input;
    const double stepUs = c.facts.statistics.steadyMeanUs;
    const StepParts& parts = c.facts.statistics.steadyMeanParts;
    if (toUs(parts.other) >= stepUs * (1 - 1e-9))
        return cannotTell(message<"loader.workers.no_phases",
                                  "The trace has no phases: how long the step waits for data is not recorded.">(),
                          Need::Program);
    if (input.waitShare < kMinimumShare)
        return silent(
            message<"loader.workers.short_wait", "The step spends only {share} of its time waiting for data.">(
                {{"share", input.waitShare, shareText(input.waitShare)}}));
    if (input.idleWaitUsPerStep < kMinimumShare * stepUs)
        return silent(message<"loader.workers.hidden_wait", "The main thread waits for data for {share} of the step, "
                                                            "but the GPU is busy for all but {idle} of that time.">(
            {{"share", input.waitShare, shareText(input.waitShare)},
             {"idle", input.idleWaitUsPerStep, timeText(input.idleWaitUsPerStep)}}));
    const int now = currentWorkers(c);
    const RecordedInput loading = recordedInput(c);
    Advice advice;
    if (!loading.model.canPredict()) {
        advice = withoutModel(c, now);
    } else {
        const Choice choice = choose(c, loading.model, now);
        if (choice.saved.modelUs < kLeastGain * loading.model.stepUs)
            return silent(message<"loader.workers.no_gain", "{wait} With {cores} cores, a replay of this trace shows "
                                                            "no gain from any number of workers other than {workers}.">(
                {{"wait", waitMessage(input).text}, {"cores", input.cores}, {"workers", now}}));
        advice = fires(waitMessage(input));
        advice.saving = savedByLoader(c, loading, {now, prefetchFactor(c)}, {choice.workers, prefetchFactor(c)});
        setToggle(advice, c, kKey, std::to_string(choice.workers));
        addCaveats(advice, c, choice.workers);
    }
    addEvidence(advice, c.trace, input.longestWaits);
    return advice;
}

} // namespace

Rule loader_workers()
{
    return {kKey, "The step waits for data", check, Needs::Steps, TimePart::Data};
}

} // namespace advisor::rules
