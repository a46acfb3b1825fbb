#include "advisor/input_saving.h"
#include "advisor/launch_bound.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.workers";
// Under a twentieth of the step, more workers cost more host memory than they win back.
constexpr double kWorthFixing = 0.05;
// Savings below this share of the step cannot be told from noise by an experiment.
constexpr double kLeastGain = 0.01;
// The smallest number of workers within this share of the step of the best is as good and costs less memory.
constexpr double kSameGain = 0.02;
// The documents' rule of thumb where the trace does not say more.
constexpr int kWorkersPerGpu = 4;
constexpr int kMostWorkers = 16;

int currentWorkers(const Case& c)
{
    return c.config ? static_cast<int>((*c.config)[config::key::workers]) : c.facts.input.workers;
}

int prefetchFactor(const Case& c)
{
    return c.config ? static_cast<int>((*c.config)[config::key::prefetchFactor]) : LoaderSetup{}.prefetchFactor;
}

int thumbWorkers(const Case& c)
{
    // An imported trace names all devices of the machine, whichever its process used.
    const int devices = c.config ? static_cast<int>(c.trace.devices().size()) : c.facts.device.devices;
    return kWorkersPerGpu * std::max(1, devices);
}

struct Choice {
    int workers = 0;
    InputPrediction saved;
};

/// The smallest number of workers that saves about as much as the best one.
Choice choose(const Case& c, const InputModel& model, int now)
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
                            return a.saved.midUs < b.saved.midUs;
                        })->saved.midUs;
    return *std::find_if(choices.begin(), choices.end(),
                         [&](const Choice& choice) { return choice.saved.midUs >= best - kSameGain * model.stepUs; });
}

/// PyTorch's profiler names the iterator, of workers in processes that it does not record.
bool loadsInWorkers(const Trace& trace)
{
    return anyName(trace, [](std::string_view name) {
        return name.starts_with("enumerate(DataLoader)#_MultiProcessingDataLoaderIter");
    });
}

std::string waitSentence(const InputWait& input)
{
    std::string text =
        fmt::format("The step waits {} of its time for data ({} of {})", shareText(input.waitShare),
                    timeText(input.waitUsPerStep), timeText(input.waitUsPerStep + input.computeUsPerStep));
    if (input.loadUsPerBatch > 0) {
        text += fmt::format(": a batch takes {} to load", timeText(input.loadUsPerBatch));
        if (!input.stages.empty())
            text += fmt::format(", {} of it {}", shareText(input.stages.front().share), input.stages.front().name);
    }
    return text + ".";
}

/// @param workers  0: not known
void addCaveats(Advice& advice, const Case& c, int workers)
{
    if (workers > 0)
        advice.caveats.push_back(fmt::format("Up to {} batches lie ready in host memory: workers × prefetch factor.",
                                             workers * prefetchFactor(c)));
    const int cores = c.facts.input.cores;
    if (cores == 0)
        advice.caveats.emplace_back(
            "The trace does not say how many cores the run could use; more workers than cores are slow.");
    else if (workers + computeThreads(c) > cores)
        advice.caveats.push_back(
            fmt::format("Workers and training share {} cores, hence the width of the range; still more "
                        "workers would slow both.",
                        cores));
    if (!c.config)
        advice.caveats.emplace_back("A data set that is a stream must be sharded by worker, or samples come twice.");
}

/// Without recorded stages there is nothing to replay: the rule of thumb, and no promise.
Advice withoutModel(const Case& c, int now)
{
    const int cores = c.facts.input.cores;
    const int most = cores > 0 ? std::min(thumbWorkers(c), cores) : thumbWorkers(c);
    const bool unknown = !c.config && now == 0 && loadsInWorkers(c.trace);
    Advice advice = fires(waitSentence(c.facts.input) + (unknown ? " Workers load already." : ""));
    advice.concerns = c.facts.input.waitShare;
    advice.whyNoPrediction = "The stages of the loader are not recorded: there is nothing to replay.";
    if (unknown)
        advice.whyNoToggle = "How many workers load (_MultiProcessingDataLoaderIter) is not recorded: more help only "
                             "while cores are free. If none is, make loading cheaper: see augment.device.";
    else if (now >= most)
        advice.whyNoToggle = fmt::format("{} workers load already, as many as the rule of thumb asks for: make loading "
                                         "cheaper, see augment.device.",
                                         now);
    else
        setToggle(advice, c, kKey, std::to_string(most));
    addCaveats(advice, c, unknown ? 0 : std::max(now, most));
    return advice;
}

/// Share of the time in which devices idle for want of data, the longest such gap left out: workers start in it. 0 with
/// fewer gaps than make a habit.
double waitsWithoutTheStart(const Case& c)
{
    constexpr std::size_t kFewest = 3;
    for (const IdleCause& cause : c.facts.device.idle)
        if (cause.cause == "data_loader" && cause.where.size() >= kFewest) {
            const auto longest = std::max_element(cause.where.begin(), cause.where.end(),
                                                  [](TimeRange a, TimeRange b) { return a.duration() < b.duration(); });
            return c.facts.device.idleShare("data_loader") * (1 - toUs(longest->duration()) / toUs(total(cause.where)));
        }
    return 0;
}

/// An imported trace without step marks tells how long its devices idle while the main thread waits for data.
std::optional<Advice> withoutSteps(const Case& c)
{
    const double share = waitsWithoutTheStart(c);
    if (c.config || c.facts.statistics.count > 0 || share < kWorthFixing)
        return std::nullopt;
    Advice advice = fires(
        fmt::format("The device idles {} of the time while the program waits for data, the longest wait left out.",
                    shareText(share)));
    advice.concerns = share;
    advice.whyNoPrediction = noStepMarks("what a step would save is not known");
    const int workers = thumbWorkers(c);
    setToggle(advice, c, kKey, std::to_string(workers));
    addCaveats(advice, c, workers);
    for (const IdleCause& cause : c.facts.device.idle)
        if (cause.cause == "data_loader")
            advice.evidence = longestGaps(c, cause);
    return advice;
}

Advice check(const Case& c)
{
    if (auto advice = withoutSteps(c))
        return *advice;
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    const InputWait& input = c.facts.input;
    const double stepUs = c.facts.statistics.steadyMeanUs;
    const StepParts& parts = c.facts.statistics.steadyMeanParts;
    if (toUs(parts.other) >= stepUs * (1 - 1e-9))
        return cannotTell("The trace has no phases: how long the step waits for data is not recorded.");
    if (input.waitShare < kWorthFixing)
        return silent(fmt::format("The step waits only {} of its time for data.", shareText(input.waitShare)));
    if (input.idleWaitUsPerStep < kWorthFixing * stepUs)
        return silent(fmt::format("The main thread waits {} of the step for data, but the device is busy meanwhile.",
                                  shareText(input.waitShare)));
    const int now = currentWorkers(c);
    const InputCase loading = inputCase(c);
    Advice advice;
    if (!loading.model.canPredict()) {
        advice = withoutModel(c, now);
    } else {
        const Choice choice = choose(c, loading.model, now);
        if (choice.saved.midUs < kLeastGain * loading.model.stepUs)
            return silent(
                fmt::format("{} With {} cores, no other number of workers than {} would shorten it by the replay "
                            "of this trace.",
                            waitSentence(input), input.cores, now));
        advice = fires(waitSentence(input));
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
    return {kKey, "The step waits for data", check};
}

} // namespace advisor::rules
