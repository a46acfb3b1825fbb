#include "advisor/advice.h"
#include "advisor/evidence/loader_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/model/message.h"

#include <array>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;
using profiler::message;

constexpr std::string_view kKey = "loader.prefetch_factor";
// Shares of the step, with the same sources as in loader_workers.cpp: the minimum wait, the minimum saving, and the
// minimum extra saving of a larger factor.
constexpr double kMinimumShare = 0.05;
constexpr double kLeastGain = 0.01;
constexpr double kSameGain = 0.02;
// tips.md starts at four; each doubling costs as much memory again.
constexpr std::array<int, 3> kFactors = {4, 8, 16};

struct Choice {
    int factor = 0;
    InputPrediction saved;
};

Choice choose(const RuleContext& c, const InputModel& model, LoaderSetup now)
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

/// The name of PyTorch's loader iterator shows whether workers are used.
bool hasWorkersIterator(const profiler::Trace& trace)
{
    return anyName(trace,
                   [](std::string_view name) { return name.starts_with("enumerate(DataLoader)#_MultiProcessing"); });
}

/// The verdict if no worker is visible in the trace; no value if workers are used nevertheless.
std::optional<Advice> withoutWorkers(const RuleContext& c)
{
    if (!c.config && hasWorkersIterator(c.trace))
        return std::nullopt;
    if (!c.config && c.facts.input.waitUsPerStep == 0)
        return cannotTell(
            message<
                "loader.prefetch_factor.unrecorded",
                "The trace contains neither a wait for data nor a worker: how batches are loaded is not recorded.">(),
            Need::Program);
    return silent(message<"loader.prefetch_factor.no_workers",
                          "The main thread loads batches itself, so nothing is prefetched. See loader.workers.">());
}

Advice check(const RuleContext& c)
{
    const InputWait& input = c.facts.input;
    const int workers = loaderWorkers(c);
    if (auto advice = littleDataWaitWithoutSteps(c, kMinimumShare))
        return *advice;
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (workers == 0)
        if (auto advice = withoutWorkers(c))
            return *advice;
    if (input.waitShare < kMinimumShare)
        return silent(
            message<"loader.prefetch_factor.short_wait", "The step spends only {share} of its time waiting for data.">(
                {{"share", input.waitShare, shareText(input.waitShare)}}));
    const std::optional<int> factor = loaderPrefetchFactor(c);
    if (!factor)
        return cannotTell(message<"loader.prefetch_factor.factor_unknown",
                                  "The trace does not record how many batches may be in flight.">(),
                          Need::Program);
    const RecordedInput loading = recordedInput(c);
    if (!loading.model.canPredict())
        return cannotTell(
            message<"loader.prefetch_factor.no_stages",
                    "The loader's stages are not recorded, so it is unknown whether jitter causes the stalls.">(),
            Need::Program);
    const double usPerBatch = input.loadUsPerBatch / workers;
    if (usPerBatch >= input.computeUsPerStep)
        return silent(message<"loader.prefetch_factor.too_slow",
                              "Loading is too slow on average ({batch} per batch with {workers} workers; a step "
                              "computes for {compute}): more batches in flight run out as well. See loader.workers.">(
            {{"batch", usPerBatch, timeText(usPerBatch)},
             {"workers", workers},
             {"compute", input.computeUsPerStep, timeText(input.computeUsPerStep)}}));
    const LoaderSetup now{workers, *factor};
    const Choice choice = choose(c, loading.model, now);
    if (choice.saved.midUs < kLeastGain * loading.model.stepUs)
        return silent(message<"loader.prefetch_factor.no_gain", "Stalls take {share} of the step, but a replay of this "
                                                                "trace shows no gain from more batches in flight.">(
            {{"share", input.waitShare, shareText(input.waitShare)}}));
    Advice advice = fires(
        message<"loader.prefetch_factor.jitter",
                "{stalls} of the steps stall for data although loading is fast enough on average: {batch} per batch "
                "with {workers} workers, one batch in ten takes over {slow} of a worker's time, and a step computes "
                "for {compute}.">({{"stalls", input.stallShareOfSteps, shareText(input.stallShareOfSteps)},
                                   {"batch", usPerBatch, timeText(usPerBatch)},
                                   {"workers", workers},
                                   {"slow", input.loadUsPerBatchP90, timeText(input.loadUsPerBatchP90)},
                                   {"compute", input.computeUsPerStep, timeText(input.computeUsPerStep)}}));
    advice.saving = savedByLoader(c, loading, now, {now.workers, choice.factor});
    setToggle(advice, c, kKey, std::to_string(choice.factor));
    advice.caveats.push_back(
        message<"loader.prefetch_factor.memory",
                "Host memory holds up to {batches} batches instead of {now}: workers × prefetch factor.">(
            {{"batches", workers * choice.factor}, {"now", workers * now.prefetchFactor}}));
    addEvidence(advice, c.trace, input.longestWaits);
    return advice;
}

} // namespace

Rule loader_prefetch_factor()
{
    return {kKey, "Too few batches are prefetched", check, Needs::Steps, TimePart::Data};
}

} // namespace advisor::rules
