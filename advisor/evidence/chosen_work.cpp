#include "advisor/evidence/chosen_work.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"

#include <vector>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

bool isHost(const Track& track)
{
    return track.kind == TrackKind::MainThread || track.kind == TrackKind::Thread;
}

bool isCallOrWait(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver || kind == ActivityKind::Sync;
}

} // namespace

ChosenWork::ChosenWork(const Trace& trace, const SliceSet& chosen) : m_host(chosen)
{
    std::unordered_set<std::uint64_t> launched; // correlation ids
    for (const Track& track : trace.tracks()) {
        if (!isHost(track))
            continue;
        std::vector<TimeRange> ranges;
        forEachView(trace, track.id, [&](const SliceView& slice) {
            if (chosen.contains(slice.id()))
                ranges.push_back(slice.range());
        });
        if (ranges.empty())
            continue;
        const Intervals within = unite(std::move(ranges));
        forEachView(trace, track.id, [&](const SliceView& slice) {
            if (!isCallOrWait(slice.kind()) || !beginsWithin(slice.begin(), within))
                return;
            m_host.insert(slice.id());
            if (slice.kind() != ActivityKind::Sync && slice.correlation().value != 0)
                launched.insert(slice.correlation().value);
        });
    }
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream && !launched.empty())
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (isDeviceWork(slice.kind()) && launched.contains(slice.correlation().value))
                    m_device.insert(slice.id());
            });
}

bool ChosenWork::onHost(const ReplayWork& work) const
{
    // A piece without a slice has the kind Other.
    return work.where == ReplayWork::Where::Host && work.kind != ActivityKind::Other && m_host.contains(work.slice);
}

bool ChosenWork::onDevice(const ReplayWork& work) const
{
    return work.where == ReplayWork::Where::Device && m_device.contains(work.slice);
}

SliceSet operatorsIn(const Trace& trace, bool (*fits)(std::string_view name), std::string_view phase)
{
    std::vector<TimeRange> ranges;
    const Phases phases(trace);
    for (const Track& track : trace.tracks())
        if (isHost(track) && !phase.empty())
            forEachView(trace, track.id, [&](const SliceView& slice) {
                if (phases.of(slice) == phase)
                    ranges.push_back(slice.range());
            });
    const Intervals within = unite(std::move(ranges));
    NameAnswers answers(trace, fits);
    SliceSet found;
    for (const Track& track : trace.tracks())
        if (isHost(track))
            forEachViewOf(trace, track.id, ActivityKind::CpuOp, [&](const SliceView& slice) {
                if (answers(slice.nameId()) && (phase.empty() || beginsWithin(slice.begin(), within)))
                    found.insert(slice.id());
            });
    return found;
}

} // namespace advisor
