#include "advisor/advice.h"
#include "advisor/evidence/launch_bound.h"
#include "advisor/evidence/loader_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/verdict.h"
#include "profiler/analysis/loader/loader_work.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

// Minimum share of the step spent waiting for data: below it, a slow worker does not matter. Source: PyTorch's
// TensorBoard plug-in.
constexpr double kMinimumShare = 0.05;
// Minimum ratio of the slowest worker's mean time per batch to the mean of all workers, and of the busiest worker's
// time to the mean. Source: gpuprof warns at 2.5 times as much work.
constexpr double kUneven = 1.5;
// Minimum batches per worker: with fewer, the difference may be chance.
constexpr std::int64_t kFewestBatches = 3;

/// @param waitShare share of the time, [0, 1]
Advice finding(const RuleContext& c, const LoaderBalance& balance, double waitShare)
{
    const WorkerUse& slow = balance.workers[balance.slowest];
    const profiler::MessageParameter worker{"worker", slow.name},
        time{"time", slow.usPerBatch, timeText(slow.usPerBatch)},
        ratio{"ratio", balance.slowestOverMean, countText(balance.slowestOverMean)},
        workers{"workers", balance.workers.size()}, share{"share", waitShare, shareText(waitShare)};
    Advice advice =
        fires(analyzesWithoutSteps(c)
                  ? message<"loader.balance.slow_worker_without_steps",
                            "Worker {worker} is slower than the others: it loads a batch in {time}, {ratio} times the "
                            "mean of all {workers} workers, and the GPU idles for {share} of the recorded time because "
                            "it waits for data. The trace has no steps, so this is not per step.">(
                        {worker, time, ratio, workers, share})
                  : message<"loader.balance.slow_worker",
                            "Worker {worker} is slower than the others: it loads a batch in {time}, {ratio} times the "
                            "mean of all {workers} workers, and the step spends {share} of its time waiting for data.">(
                        {worker, time, ratio, workers, share}));
    advice.timeShare = waitShare;
    advice.whyNoPrediction =
        message<"loader.balance.not_predicted",
                "The trace does not show how fast another worker would load the same batches: measure it.">();
    advice.caveats = {
        message<"loader.balance.in_order",
                "Batches are delivered in order: the step waits for the slow worker even if others are ready.">(),
        message<"loader.balance.shared_core",
                "Another program on the worker's core also slows it down, whatever the data.">()};
    advice.whyNoToggle = message<"loader.balance.no_setting",
                                 "No single setting: check what the slow worker reads and how the data is sharded.">();
    std::vector<profiler::SliceId> evidence{slow.longest};
    for (const profiler::SliceId wait : c.facts.input.longestWaits)
        evidence.push_back(wait);
    addEvidence(advice, c.trace, evidence);
    if (const IdleCause* data = c.facts.device.idleCause("data_loader"); data && analyzesWithoutSteps(c))
        for (Evidence& gap : longestGaps(c, *data))
            if (advice.evidence.size() < kMostEvidence)
                advice.evidence.push_back(std::move(gap));
    return advice;
}

Advice check(const RuleContext& c)
{
    if (auto advice = littleDataWaitWithoutSteps(c, kMinimumShare))
        return *advice;
    const bool withoutSteps = analyzesWithoutSteps(c);
    if (auto advice = withoutSteadySteps(c); advice && !withoutSteps)
        return *advice;
    const double waitShare = withoutSteps ? c.facts.device.idleShare("data_loader") : c.facts.input.waitShare;
    if (waitShare < kMinimumShare)
        return silent(message<"loader.balance.no_wait", "The step spends only {share} of its time waiting for data.">(
            {{"share", waitShare, shareText(waitShare)}}));
    if (hadNoWorkers(c))
        return silent(
            message<"loader.balance.no_workers", "No loader workers are used: there is nothing to balance.">());
    const LoaderBalance balance = loaderBalance(c.trace, withoutSteps ? windowAsStep(c) : c.facts.steps);
    if (!balance.cannotTell.empty())
        return cannotTell(message<"loader.balance.unknown", "The load of each loader worker is unknown: {why}.">(
                              {{"why", balance.cannotTell}}),
                          Need::Workers);
    if (balance.workers.size() < 2)
        return silent(message<"loader.balance.one_worker", "There is only one loader worker.">());
    const auto [least, most] =
        std::minmax_element(balance.workers.begin(), balance.workers.end(),
                            [](const WorkerUse& a, const WorkerUse& b) { return a.batches < b.batches; });
    if (most->batches == 0)
        return cannotTell(message<"loader.balance.batches_not_recorded",
                                  "The trace does not record which worker loaded which batch.">(),
                          Need::Program);
    if (balance.workers[balance.slowest].batches < kFewestBatches || least->batches == 0)
        return cannotTell(
            message<
                "loader.balance.few_batches",
                "At most {batches} batches per worker ({workers} workers) are too few to show whether one is slower.">(
                {{"batches", most->batches, countText(static_cast<double>(most->batches))},
                 {"workers", balance.workers.size()}}),
            Need::Longer);
    if (balance.slowestOverMean < kUneven)
        return silent(message<"loader.balance.even",
                              "The workers are evenly loaded: the slowest takes {ratio} times the mean per batch.">(
            {{"ratio", balance.slowestOverMean, countText(balance.slowestOverMean)}}));
    return finding(c, balance, waitShare);
}

} // namespace

Rule loader_balance()
{
    return {"loader.balance", "One loader worker is slower than the others", check, Needs::Steps, TimePart::Data};
}

} // namespace advisor::rules
