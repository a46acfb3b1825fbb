#include "profiler/io/wire/device_loss.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>

namespace profiler::wire {

namespace {

/// Looked for from the end, in windows that grow: a trace may be long, and most end with what is looked for.
std::optional<TraceTime> lastEnd(const Trace& trace, TrackId track)
{
    constexpr Nanoseconds kFirstWindow = std::chrono::milliseconds(1);
    constexpr int kGrows = 8;
    const TimeRange whole = trace.range();
    std::optional<TraceTime> last;
    for (Nanoseconds back = kFirstWindow; !last; back *= kGrows) {
        const TimeRange window{std::max(whole.begin, whole.end - back), whole.end};
        trace.forEach(track, window, [&](const Slice& slice) {
            last = last ? std::max(*last, slice.end()) : slice.end();
            return true;
        });
        if (window.begin == whole.begin)
            break;
    }
    return last;
}

} // namespace

std::string deviceLossText(const Trace& trace)
{
    std::map<DeviceId, TraceTime> lastOfDevice;
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            if (const auto last = lastEnd(trace, track.id)) {
                const auto [known, isNew] = lastOfDevice.try_emplace(track.device, *last);
                known->second = std::max(known->second, *last);
            }
    if (lastOfDevice.empty())
        return {};
    const auto first = std::min_element(lastOfDevice.begin(), lastOfDevice.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    return fmt::format(
        "the GPU's work is there until {:.1f} ms before the last event: what ran since then the driver had "
        "not handed over",
        static_cast<double>((trace.range().end - first->second).count()) / 1e6);
}

} // namespace profiler::wire
