#include "profiler/analysis/loader/input_wait.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/loader/loaded_batches.h"
#include "profiler/analysis/operators/self_times.h"
#include "profiler/analysis/percentile.h"
#include "profiler/analysis/steps/phases.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace profiler::analysis {

namespace {

constexpr double kStall = 0.05; // share of the mean step; a shorter wait is only the transfer of a batch
constexpr std::size_t kMostWaits = 10;

int recordedCores(const Trace& trace)
{
    const auto entry = trace.metadata().find("host.cores");
    int cores = 0;
    if (entry != trace.metadata().end())
        std::from_chars(entry->second.data(), entry->second.data() + entry->second.size(), cores);
    return std::max(cores, 0);
}

std::vector<Slice> steadyWaits(const Trace& trace, const std::vector<Step>& steps)
{
    const Phases phases(trace);
    std::vector<Slice> waits;
    for (const Step& step : steps)
        if (isSteady(step))
            trace.forEach(step.slice.track, step.range, [&](const Slice& slice) {
                if (phases.isDataWait(slice))
                    waits.push_back(slice);
                return true;
            });
    return waits;
}

void readWaits(const Trace& trace, const std::vector<Step>& steps, const StepStatistics& statistics,
               const Intervals& busy, InputWait& input)
{
    std::vector<Slice> waits = steadyWaits(trace, steps);
    const auto count = static_cast<double>(statistics.steadyCount);
    input.waitUsPerStep = toUs(statistics.steadyMeanParts.dataWait);
    input.waitShare = input.waitUsPerStep / statistics.steadyMeanUs;
    input.computeUsPerStep = statistics.steadyMeanUs - input.waitUsPerStep;
    const auto stalled = std::count_if(steps.begin(), steps.end(), [&](const Step& step) {
        return isSteady(step) && toUs(step.parts.dataWait) > kStall * statistics.steadyMeanUs;
    });
    input.stallShareOfSteps = static_cast<double>(stalled) / count;

    std::vector<TimeRange> ranges;
    for (const Slice& wait : waits)
        ranges.push_back(wait.range());
    const Intervals waiting = unite(std::move(ranges));
    input.idleWaitUsPerStep = std::min(input.waitUsPerStep, toUs(total(subtract(waiting, busy))) / count);

    std::stable_sort(waits.begin(), waits.end(),
                     [](const Slice& a, const Slice& b) { return a.duration > b.duration; });
    for (std::size_t i = 0; i < std::min(waits.size(), kMostWaits); ++i)
        input.longestWaits.push_back(waits[i].id);
}

void readStages(const Trace& trace, const std::vector<LoadedBatch>& batches, InputWait& input)
{
    if (batches.empty())
        return;
    std::map<std::string_view, Nanoseconds> byName;
    std::vector<double> loads;
    for (const LoadedBatch& batch : batches) {
        Nanoseconds load{0};
        forEachNested(batch.stages, [&](const Nested& nested) {
            byName[trace.name(*nested.slice)] += nested.self;
            load += nested.self;
        });
        loads.push_back(toUs(load));
    }
    input.loadUsPerBatch = mean(loads);
    input.loadUsPerBatchP90 = percentile(loads, 0.9);
    for (const auto& [name, time] : byName) {
        const double us = toUs(time) / static_cast<double>(batches.size());
        input.stages.push_back({std::string(name), us, input.loadUsPerBatch > 0 ? us / input.loadUsPerBatch : 0});
    }
    std::sort(input.stages.begin(), input.stages.end(),
              [](const auto& a, const auto& b) { return a.usPerBatch > b.usPerBatch; });
}

double busyShare(const Trace& trace, const std::vector<Step>& steps, int workers)
{
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        if (isSteady(step))
            ranges.push_back(step.range);
    const Intervals steady = unite(std::move(ranges));
    Nanoseconds busy{0};
    for (const Track& track : trace.tracks()) {
        if (!isWorker(trace, track, steps))
            continue;
        std::vector<TimeRange> stages;
        forEachViewOf(trace, track.id, ActivityKind::LoaderStage,
                      [&](const SliceView& slice) { stages.push_back(slice.range()); });
        busy += total(intersect(unite(std::move(stages)), steady));
    }
    return toUs(busy) / (static_cast<double>(workers) * toUs(total(steady)));
}

} // namespace

InputWait inputWait(const Trace& trace, const std::vector<Step>& steps, const Intervals& busy)
{
    InputWait input;
    input.cores = recordedCores(trace);
    const StepStatistics statistics = stepStatistics(steps);
    if (statistics.steadyCount == 0 || statistics.steadyMeanUs <= 0)
        return input;
    readWaits(trace, steps, statistics, busy, input);
    input.workers = workerCount(trace, steps);
    readStages(trace, loadedBatches(trace, steps), input);
    if (input.workers > 0)
        input.workerBusyShare = busyShare(trace, steps, input.workers);
    return input;
}

} // namespace profiler::analysis
