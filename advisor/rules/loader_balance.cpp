#include "profiler/analysis/loader_balance.h"
#include "advisor/numbers.h"
#include "advisor/run_facts.h"
#include "advisor/verdict.h"

#include <algorithm>
#include <fmt/format.h>

namespace advisor::rules {
namespace {

using namespace profiler::analysis;

// Of the step, waiting for data: below, nobody waits for the slow worker. Source: PyTorch's TensorBoard plug-in.
constexpr double kWorthFixing = 0.05;
// The slowest worker's mean batch over that of all, and the busiest one's time over the mean. Source: gpuprof warns of
// two and a half times as much work.
constexpr double kUneven = 1.5;
// Of each worker: fewer batches are chance.
constexpr std::int64_t kFewestBatches = 3;

Advice finding(const Case& c, const LoaderBalance& balance)
{
    const WorkerUse& slow = balance.workers[balance.slowest];
    Advice advice =
        fires(fmt::format("One loader worker is slower than the others: a batch of {} takes {}, {} times the mean over "
                          "all {} workers, and the step waits {} of its time for data.",
                          slow.name, timeText(slow.usPerBatch), countText(balance.slowestOverMean),
                          countText(static_cast<double>(balance.workers.size())), shareText(c.facts.input.waitShare)));
    advice.concerns = c.facts.input.waitShare;
    advice.whyNoPrediction =
        "Which of the worker's batches would be as quick elsewhere is not in the trace: measure it.";
    advice.caveats = {"Batches come in order: the step waits for the slow one even where others are ready.",
                      "Another program on the worker's core makes it slow without any fault of the data."};
    advice.whyNoToggle = "No single setting: look at what the slow worker reads, and how the data is split.";
    std::vector<profiler::SliceId> evidence{slow.longest};
    for (const profiler::SliceId wait : c.facts.input.longestWaits)
        evidence.push_back(wait);
    addEvidence(advice, c.trace, evidence);
    return advice;
}

Advice check(const Case& c)
{
    if (auto advice = withoutSteadySteps(c))
        return *advice;
    if (c.facts.input.waitShare < kWorthFixing)
        return silent(fmt::format("The step waits for data only {} of its time, however the workers share the work.",
                                  shareText(c.facts.input.waitShare)));
    const LoaderBalance balance = loaderBalance(c.trace, c.facts.steps);
    if (!balance.cannotTell.empty())
        return cannotTell(fmt::format("How loader workers share the work is not known: {}.", balance.cannotTell));
    if (balance.workers.size() < 2)
        return silent("There is one loader worker: there is nothing to share.");
    const auto [least, most] =
        std::minmax_element(balance.workers.begin(), balance.workers.end(),
                            [](const WorkerUse& a, const WorkerUse& b) { return a.batches < b.batches; });
    if (most->batches == 0)
        return cannotTell("Which worker loaded which batch is not recorded.");
    if (balance.workers[balance.slowest].batches < kFewestBatches || least->batches == 0)
        return cannotTell(fmt::format("{} batches of {} workers do not show whether one is slower.",
                                      countText(static_cast<double>(most->batches)),
                                      countText(static_cast<double>(balance.workers.size()))));
    if (balance.slowestOverMean < kUneven)
        return silent(fmt::format("The workers share the work evenly: the slowest one's batch takes {} times the mean.",
                                  countText(balance.slowestOverMean)));
    return finding(c, balance);
}

} // namespace

Rule loader_balance()
{
    return {"loader.balance", "One loader worker is slower than the others", check};
}

} // namespace advisor::rules
