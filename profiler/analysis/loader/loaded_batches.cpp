#include "profiler/analysis/loader/loaded_batches.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
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

bool holds(const Intervals& set, TraceTime time)
{
    const auto after =
        std::upper_bound(set.begin(), set.end(), time, [](TraceTime t, TimeRange range) { return t < range.begin; });
    return after != set.begin() && std::prev(after)->contains(time);
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
            works = slice.kind == ActivityKind::LoaderStage && holds(steady, slice.begin);
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
    std::erase_if(batches, [&](const LoadedBatch& batch) { return !holds(steady, batch.range.begin); });
    std::sort(batches.begin(), batches.end(),
              [](const LoadedBatch& a, const LoadedBatch& b) { return a.range.begin < b.range.begin; });
    return batches;
}

} // namespace profiler::analysis
