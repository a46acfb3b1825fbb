#include "profiler/analysis/loader/loader_work.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/steps.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

namespace profiler::analysis {

namespace {

Intervals steadyTime(const std::vector<Step>& steps)
{
    std::vector<TimeRange> ranges;
    for (const Step& step : steps)
        if (isSteady(step))
            ranges.push_back(step.range);
    return unite(std::move(ranges));
}

/// Groups the stages of one track into batches.
class Grouping {
public:
    Grouping(const Trace& trace, std::vector<LoadedBatch>& batches) : m_trace(trace), m_batches(batches) {}

    void add(const Slice& slice)
    {
        if (m_batch.stages.empty())
            m_batch = {.track = slice.id.track, .range = slice.range(), .work = {}, .stages = {}};
        m_batch.range.end = std::max(m_batch.range.end, slice.end());
        m_batch.stages.push_back(slice);
        if (m_trace.name(slice) == stage::kCollate && !slice.is(slice_flag::kOpen))
            m_collated = slice.args.value;
        m_pinned = m_pinned || m_trace.name(slice) == stage::kPin;
    }
    void wait(TimeRange range) { m_waits.push_back(range); }
    void close()
    {
        if (!m_batch.stages.empty()) {
            const std::vector<TimeRange> whole{m_batch.range};
            m_batch.work = total(subtract(whole, unite(m_waits)));
            m_batches.push_back(std::move(m_batch));
        }
        drop();
    }
    void drop()
    {
        m_batch = {};
        m_waits.clear();
        m_collated.reset();
        m_pinned = false;
    }
    /// True if the batch was collated.
    [[nodiscard]] bool isWhole() const { return m_collated.has_value(); }
    /// True if `next` belongs to another batch: this one was collated, and `next` does not pin it. A worker may load
    /// the batch of the same number in the next epoch right after this one, so a batch is pinned once.
    [[nodiscard]] bool isOver(const Slice& next) const
    {
        return isWhole() && (m_pinned || m_trace.name(next) != stage::kPin || next.args.value != *m_collated);
    }

private:
    const Trace& m_trace;
    std::vector<LoadedBatch>& m_batches;
    LoadedBatch m_batch;
    std::vector<TimeRange> m_waits;
    std::optional<std::int64_t> m_collated; ///< number of the batch, once it was collated
    bool m_pinned = false;
};

/// Outermost stages and waits on a worker's track, by start.
std::vector<Slice> workerSlices(const Trace& trace, TrackId track)
{
    std::vector<Slice> slices = trace.sorted(track);
    TraceTime covered{Nanoseconds::min()};
    std::erase_if(slices, [&](const Slice& slice) {
        if (slice.kind != ActivityKind::LoaderStage && slice.kind != ActivityKind::LoaderWait)
            return true;
        const bool nested = slice.end() <= covered;
        covered = std::max(covered, slice.end());
        return nested;
    });
    return slices;
}

void workerBatches(const Trace& trace, TrackId track, std::vector<LoadedBatch>& batches)
{
    const std::vector<Slice> slices = workerSlices(trace, track);
    const bool marked = std::any_of(slices.begin(), slices.end(), [&](const Slice& slice) {
        return slice.kind == ActivityKind::LoaderStage && trace.name(slice) == stage::kCollate;
    });
    Grouping group(trace, batches);
    for (const Slice& slice : slices) {
        if (slice.kind == ActivityKind::LoaderWait) {
            if (marked && !group.isWhole())
                group.wait(slice.range());
            else
                group.close();
            continue;
        }
        if (group.isOver(slice))
            group.close();
        group.add(slice);
    }
    if (marked && !group.isWhole())
        group.drop();
    else
        group.close();
}

void mainThreadBatches(const Trace& trace, const std::vector<Step>& steps, std::vector<LoadedBatch>& batches)
{
    const Phases phases(trace);
    const std::vector<Slice> slices = sortedWhere(trace, steps.front().slice.track, [&](const SliceView& slice) {
        return slice.kind() == ActivityKind::LoaderStage || phases.isDataWait(slice);
    });
    std::vector<TimeRange> waits;
    for (const Slice& slice : slices)
        if (phases.isDataWait(slice) && !slice.is(slice_flag::kOpen))
            waits.push_back(slice.range());
    auto stage = slices.begin();
    for (const TimeRange wait : waits) {
        LoadedBatch batch{.track = steps.front().slice.track, .range = wait, .work = wait.duration(), .stages = {}};
        for (; stage != slices.end() && stage->begin < wait.end; ++stage)
            if (stage->kind == ActivityKind::LoaderStage && stage->begin >= wait.begin)
                batch.stages.push_back(*stage);
        if (!batch.stages.empty())
            batches.push_back(std::move(batch));
    }
}

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
    ranges.reserve(waits.size());
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
    const Intervals steady = steadyTime(steps);
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

struct Sum {
    WorkerUse use;
    Nanoseconds longest{}, load{};
};

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

bool isWorker(const Trace& trace, const Track& track, const std::vector<Step>& steps)
{
    return track.kind == TrackKind::LoaderWorker && !isOfOtherSteps(trace, track.pid, steps);
}

int workerCount(const Trace& trace, const std::vector<Step>& steps)
{
    const Intervals steady = steadyTime(steps);
    std::set<std::string> names;
    for (const Track& track : trace.tracks()) {
        if (!isWorker(trace, track, steps))
            continue;
        bool works = false;
        trace.forEach(track.id, trace.range(), [&](const Slice& slice) {
            works = slice.kind == ActivityKind::LoaderStage && beginsWithin(slice, steady);
            return !works;
        });
        if (works)
            names.insert(track.name);
    }
    return static_cast<int>(names.size());
}

std::vector<LoadedBatch> loadedBatches(const Trace& trace, const std::vector<Step>& steps)
{
    std::vector<LoadedBatch> batches;
    if (steps.empty())
        return batches;
    if (workerCount(trace, steps) == 0)
        mainThreadBatches(trace, steps, batches);
    else
        for (const Track& track : trace.tracks())
            if (isWorker(trace, track, steps))
                workerBatches(trace, track.id, batches);
    const Intervals steady = steadyTime(steps);
    std::erase_if(batches, [&](const LoadedBatch& batch) { return !beginsWithin(batch.range.begin, steady); });
    std::sort(batches.begin(), batches.end(),
              [](const LoadedBatch& a, const LoadedBatch& b) { return a.range.begin < b.range.begin; });
    return batches;
}

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
