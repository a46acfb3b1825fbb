#include "advisor/input_saving.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"

#include <array>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

constexpr std::string_view kKey = "loader.prefetch_factor";
// As for the workers: a shorter wait costs more host memory than it wins back.
constexpr double kWorthFixing = 0.05;
constexpr double kLeastGain = 0.01;
constexpr double kSameGain = 0.02;
// Four is the documents' start; each doubling costs as much memory again.
constexpr std::array<int, 3> kFactors = {4, 8, 16};

struct Choice {
    int factor = 0;
    InputPrediction saved;
};

Choice choose(const Case& c, const InputModel& model, LoaderSetup now)
{
    Choice best;
    for (const int factor : kFactors) {
        if (factor <= now.prefetchFactor)
            continue;
        const auto saved = predictInput(model, now, {now.workers, factor}, computeThreads(c));
        if (best.factor == 0 || saved.midUs > best.saved.midUs + kSameGain * model.stepUs)
            best = {factor, saved};
    }
    return best;
}

/// PyTorch's loader names its iterator, and with it whether workers load.
bool hasWorkersIterator(const profiler::Trace& trace)
{
    return anyName(trace,
                   [](std::string_view name) { return name.starts_with("enumerate(DataLoader)#_MultiProcessing"); });
}

/// What there is to say where no worker is seen; no value where workers load all the same.
std::optional<Advice> withoutWorkers(const Case& c)
{
    if (!c.config && hasWorkersIterator(c.trace))
        return std::nullopt;
    if (!c.config && c.facts.input.waitUsPerStep == 0)
        return cannotTell("The trace shows neither a wait for data nor a worker: how batches come is not recorded.");
    return silent("The main thread loads its batches itself: nothing is fetched ahead. See loader.workers.");
}

Advice check(const Case& c)
{
    const InputWait& input = c.facts.input;
    const int workers = c.config ? static_cast<int>((*c.config)[config::key::workers]) : input.workers;
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (workers == 0)
        if (auto advice = withoutWorkers(c))
            return *advice;
    if (input.waitShare < kWorthFixing)
        return silent(fmt::format("The step waits only {} of its time for data.", shareText(input.waitShare)));
    if (!c.config)
        return cannotTell("The trace does not record how many batches may be in flight.");
    const InputCase loading = inputCase(c);
    if (!loading.model.canPredict())
        return cannotTell("The stages of the loader are not recorded: whether stalls come from jitter cannot be told.");
    const double usPerBatch = input.loadUsPerBatch / workers;
    if (usPerBatch >= input.computeUsPerStep)
        return silent(
            fmt::format("Loading is too slow on the average ({} a batch with {} workers, a step computes {}): more "
                        "batches in flight run dry as well. See loader.workers.",
                        timeText(usPerBatch), workers, timeText(input.computeUsPerStep)));
    const LoaderSetup now{workers, static_cast<int>((*c.config)[config::key::prefetchFactor])};
    const Choice choice = choose(c, loading.model, now);
    if (choice.saved.midUs < kLeastGain * loading.model.stepUs)
        return silent(
            fmt::format("Stalls take {} of the step, but the replay of this trace wins nothing by more batches in "
                        "flight.",
                        shareText(input.waitShare)));
    Advice advice = fires(fmt::format("{} of the steps stall for data although loading is fast enough on the average "
                                      "({} a batch with {} workers, one in ten "
                                      "takes over {} of a worker's time; a step computes {}).",
                                      shareText(input.stallShareOfSteps), timeText(usPerBatch), workers,
                                      timeText(input.loadUsPerBatchP90), timeText(input.computeUsPerStep)));
    advice.saving = savedByLoader(c, loading, now, {now.workers, choice.factor});
    setToggle(advice, c, kKey, std::to_string(choice.factor));
    advice.caveats.push_back(
        fmt::format("Up to {} batches instead of {} lie ready in host memory: workers × prefetch factor.",
                    workers * choice.factor, workers * now.prefetchFactor));
    addEvidence(advice, c.trace, input.longestWaits);
    return advice;
}

} // namespace

Rule loader_prefetch_factor()
{
    return {kKey, "Too few batches are in flight", check};
}

} // namespace advisor::rules
