#include "profiler/analysis/loader/loader_balance.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/loader/loaded_batches.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <map>

namespace profiler::analysis {

namespace {

struct Sum {
    WorkerUse use;
    Nanoseconds longest{}, load{};
};

Intervals steadyTime(const std::vector<Step>& steps)
{
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        if (isSteady(step))
            ranges.push_back(step.range);
    return unite(std::move(ranges));
}

void addTrack(const Trace& trace, const Track& track, const Intervals& steady, Sum& sum)
{
    UnionBuilder stages, waits;
    forEachView(trace, track.id, [&](const SliceView& slice) {
        if (slice.kind() == ActivityKind::LoaderWait)
            waits.add(slice.range());
        if (slice.kind() != ActivityKind::LoaderStage)
            return;
        stages.add(slice.range());
        if (slice.duration() > sum.longest && beginsWithin(slice.begin(), steady)) {
            sum.longest = slice.duration();
            sum.use.longest = slice.id();
        }
    });
    const Intervals waiting = waits.take();
    sum.use.busy += total(intersect(subtract(stages.take(), waiting), steady));
    sum.use.waiting += total(intersect(waiting, steady));
}

void compare(LoaderBalance& balance, Nanoseconds load, std::int64_t batches)
{
    Nanoseconds busy{}, busiest{};
    for (std::size_t i = 0; i < balance.workers.size(); ++i) {
        const WorkerUse& worker = balance.workers[i];
        busy += worker.busy;
        busiest = std::max(busiest, worker.busy);
        if (worker.usPerBatch > balance.workers[balance.slowest].usPerBatch)
            balance.slowest = i;
    }
    if (busy.count() > 0)
        balance.busiestOverMean = toUs(busiest) * static_cast<double>(balance.workers.size()) / toUs(busy);
    if (batches > 0 && load.count() > 0)
        balance.slowestOverMean =
            balance.workers[balance.slowest].usPerBatch * static_cast<double>(batches) / toUs(load);
}

} // namespace

LoaderBalance loaderBalance(const Trace& trace, const std::vector<Step>& steps)
{
    LoaderBalance balance;
    const Intervals steady = steadyTime(steps);
    if (steady.empty()) {
        balance.cannotTell = "the trace has no steady steps";
        return balance;
    }
    std::map<std::string, Sum> sums;
    for (const Track& track : trace.tracks())
        if (isWorker(trace, track, steps))
            addTrack(trace, track, steady, sums[track.name]);
    std::erase_if(sums, [](const auto& entry) { return entry.second.use.busy.count() == 0; });
    if (sums.empty()) {
        balance.cannotTell = "the trace contains no work of loader workers";
        return balance;
    }
    Nanoseconds load{};
    std::int64_t batches = 0;
    for (const LoadedBatch& batch : loadedBatches(trace, steps))
        if (const auto worker = sums.find(trace.track(batch.track).name); worker != sums.end()) {
            ++worker->second.use.batches;
            ++batches;
            worker->second.load += batch.work;
            load += batch.work;
        }
    const double steadyUs = toUs(total(steady));
    for (auto& [name, sum] : sums) {
        sum.use.name = name;
        sum.use.busyShare = toUs(sum.use.busy) / steadyUs;
        sum.use.waitingShare = toUs(sum.use.waiting) / steadyUs;
        if (sum.use.batches > 0)
            sum.use.usPerBatch = toUs(sum.load) / static_cast<double>(sum.use.batches);
        balance.workers.push_back(std::move(sum.use));
    }
    compare(balance, load, batches);
    return balance;
}

} // namespace profiler::analysis
