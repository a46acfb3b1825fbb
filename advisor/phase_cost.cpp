#include "advisor/phase_cost.h"

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/phases.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <cstdint>
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
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
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

} // namespace

std::optional<double> deviceUsOfPhases(const Case& c, std::initializer_list<std::string_view> phases)
{
    const DeviceFacts& device = c.facts.device;
    if (device.steps.empty())
        return std::nullopt;
    const InPhases found = inPhases(c, phases);
    if (!found.ranges.empty() && found.launched.empty())
        return std::nullopt;
    UnionBuilder work;
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachView(c.trace, track.id, [&](const SliceView& slice) {
                if (isDeviceWork(slice.kind()) && found.launched.contains(slice.correlation().value))
                    work.add(slice.range());
            });
    const Intervals launched = work.take();
    const double idle = device.idleShare();
    if (idle < kWaitsForTheHost)
        return device.usPerStep(total(launched));
    const double ofDevice = device.usPerStep(total(unite(launched, subtract(found.ranges, device.any))));
    const double ofHost = device.usPerStep(total(found.ranges));
    return std::max(ofDevice, std::min(ofHost, idle * device.usPerStep(device.windowTime())));
}

} // namespace advisor
