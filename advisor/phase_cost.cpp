#include "advisor/phase_cost.h"

#include "profiler/analysis/phases.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/step_marks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_set>

namespace advisor {

using namespace profiler;
using namespace profiler::analysis;

namespace {

// Of the window, idle: less than that, and the host is ahead of a busy device.
constexpr double kWaitsForTheHost = 0.1;

bool isCall(ActivityKind kind)
{
    return kind == ActivityKind::CudaRuntime || kind == ActivityKind::CudaDriver;
}

struct InPhases {
    Intervals ranges;
    std::unordered_set<std::uint64_t> launched; ///< correlations
};

InPhases inPhases(const Case& c, std::initializer_list<std::string_view> wanted)
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

/// What the devices did that calls inside the phases gave work: those of other ranks do not wait for this host.
struct ReachedDevices {
    Intervals busy, launched; ///< with anything; with what those calls launched
};

ReachedDevices reachedDevices(const Case& c, const std::unordered_set<std::uint64_t>& correlations)
{
    struct Work {
        UnionBuilder all, launched;
        bool reached = false;
    };
    std::map<DeviceId, Work> devices;
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachView(c.trace, track.id, [&, &work = devices[track.device]](const SliceView& slice) {
                if (!isDeviceWork(slice.kind()))
                    return;
                work.all.add(slice.range());
                if (!correlations.contains(slice.correlation().value))
                    return;
                work.launched.add(slice.range());
                work.reached = true;
            });
    ReachedDevices found;
    for (auto& [id, work] : devices)
        if (work.reached) {
            found.busy = unite(std::move(found.busy), work.all.take());
            found.launched = unite(std::move(found.launched), work.launched.take());
        }
    return found;
}

/// Share of the window, as far as these devices had begun and were not done, in which none of them did anything.
double idleShare(const Case& c, const Intervals& busy)
{
    if (busy.empty())
        return 0;
    const std::vector<TimeRange> hull{{busy.front().begin, busy.back().end}};
    const Intervals judged = intersect(c.facts.device.window, hull);
    const auto all = static_cast<double>(total(judged).count());
    return all > 0 ? static_cast<double>(total(subtract(judged, busy)).count()) / all : 0;
}

} // namespace

Intervals hostInPhases(const Case& c, std::initializer_list<std::string_view> phases)
{
    return inPhases(c, phases).ranges;
}

std::optional<double> deviceUsOfPhases(const Case& c, std::initializer_list<std::string_view> phases)
{
    const DeviceFacts& device = c.facts.device;
    if (device.steps.empty())
        return std::nullopt;
    const InPhases found = inPhases(c, phases);
    if (!found.ranges.empty() && found.launched.empty())
        return std::nullopt;
    const ReachedDevices reached = reachedDevices(c, found.launched);
    if (!found.ranges.empty() && reached.busy.empty())
        return std::nullopt; // calls that gave no device work, such as a synchronize
    const double idle = idleShare(c, reached.busy);
    if (idle < kWaitsForTheHost)
        return device.usPerStep(total(reached.launched));
    const double ofDevice = device.usPerStep(total(unite(reached.launched, subtract(found.ranges, reached.busy))));
    const double ofHost = device.usPerStep(total(found.ranges));
    return std::max(ofDevice, std::min(ofHost, idle * device.usPerStep(device.windowTime())));
}

} // namespace advisor
