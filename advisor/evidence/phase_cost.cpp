#include "advisor/evidence/phase_cost.h"

#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/steps/phases.h"
#include "profiler/analysis/steps/step_marks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_set>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

bool isCall(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

struct InPhases {
    Intervals ranges;
    std::unordered_set<std::uint64_t> launched; ///< correlation ids
};

InPhases inPhases(const RuleContext& c, std::initializer_list<std::string_view> wanted)
{
    const Phases phases(c.trace);
    InPhases found;
    for (const Track& track : c.trace.tracks()) {
        if ((track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread) ||
            !isOfSameProcess(c.trace, track, c.facts.steps))
            continue;
        UnionBuilder builder;
        forEachView(c.trace, track.id, [&](const SliceView& slice) {
            const std::string_view phase = phases.of(slice);
            if (!phase.empty() && std::find(wanted.begin(), wanted.end(), phase) != wanted.end())
                builder.add(slice.range());
        });
        const Intervals ranges = intersect(builder.take(), c.facts.device.window);
        if (ranges.empty())
            continue;
        forEachView(c.trace, track.id, [&](const SliceView& slice) {
            if (!isCall(slice.kind()) || !beginsWithin(slice.begin(), ranges))
                return;
            if (slice.correlation().value != 0)
                found.launched.insert(slice.correlation().value);
        });
        found.ranges = unite(std::move(found.ranges), ranges);
    }
    return found;
}

/// The device work that these calls launched, by device. Devices of other ranks do not wait for this host.
std::map<DeviceId, Intervals> launchedWork(const RuleContext& c, const std::unordered_set<std::uint64_t>& correlations)
{
    std::map<DeviceId, UnionBuilder> work;
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachView(c.trace, track.id, [&](const SliceView& slice) {
                if (isDeviceWork(slice.kind()) && correlations.contains(slice.correlation().value))
                    work[track.device].add(slice.range());
            });
    std::map<DeviceId, Intervals> launched;
    for (auto& [id, builder] : work)
        launched[id] = builder.take();
    return launched;
}

/// Times in which each device waits for the host to launch work, according to the attribution of idle time.
std::map<DeviceId, Intervals> waitsForHost(const RuleContext& c)
{
    std::map<DeviceId, Intervals> waits;
    for (const std::string_view cause : {"launch", "other"})
        if (const IdleCause* found = c.facts.device.idleCause(cause))
            for (const auto& [device, where] : found->everywhere)
                waits[device] = unite(std::move(waits[device]), where);
    return waits;
}

} // namespace

Intervals hostInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases)
{
    return inPhases(c, phases).ranges;
}

double idleUsInPhases(const RuleContext& c, std::initializer_list<std::string_view> phases)
{
    const Intervals host = hostInPhases(c, phases);
    Nanoseconds idle{};
    for (const auto& [device, waits] : waitsForHost(c))
        idle += total(intersect(host, waits));
    return c.facts.device.deviceUsPerStep(idle);
}

std::optional<double> deviceUsOfPhases(const RuleContext& c, std::initializer_list<std::string_view> phases)
{
    const InPhases found = inPhases(c, phases);
    if (!found.ranges.empty() && found.launched.empty())
        return std::nullopt;
    const std::map<DeviceId, Intervals> launched = launchedWork(c, found.launched);
    if (!found.ranges.empty() && launched.empty())
        return std::nullopt; // calls that launched no device work, such as a synchronize
    std::map<DeviceId, Intervals> idle = waitsForHost(c);
    Nanoseconds cost{};
    for (const auto& [device, work] : launched) {
        const Intervals& waits = idle[device];
        const Nanoseconds inPhases = total(unite(work, intersect(found.ranges, waits)));
        cost += std::max(inPhases, std::min(total(found.ranges), total(waits)));
    }
    return c.facts.device.usPerStep(cost) / static_cast<double>(std::max<std::size_t>(launched.size(), 1));
}

} // namespace advisor
