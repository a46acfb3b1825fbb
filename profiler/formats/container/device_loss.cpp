#include "profiler/formats/container/device_loss.h"

#include "profiler/model/number_text.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace profiler::wire {

namespace {

/// Searches backwards from the end in growing windows, because a trace may be long and the last slice is usually near
/// its end.
std::optional<TraceTime> lastEnd(const Trace& trace, TrackId track)
{
    constexpr std::uint64_t kFirstWindow = 1'000'000; // ns
    constexpr std::uint64_t kGrows = 8;
    const TimeRange whole = trace.range();
    // Damaged times may span more nanoseconds than a signed integer can hold.
    const std::uint64_t span =
        static_cast<std::uint64_t>(toNs(whole.end)) - static_cast<std::uint64_t>(toNs(whole.begin));
    std::optional<TraceTime> last;
    for (std::uint64_t back = kFirstWindow; !last; back = back > span / kGrows ? span : back * kGrows) {
        const bool isAll = back >= span;
        const TimeRange window{isAll ? whole.begin : whole.end - Nanoseconds(static_cast<std::int64_t>(back)),
                               whole.end};
        trace.forEach(track, window, [&](const Slice& slice) {
            last = last ? std::max(*last, slice.end()) : slice.end();
            return true;
        });
        if (isAll)
            break;
    }
    return last;
}

} // namespace

Message deviceLoss(const Trace& trace)
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
    const double ns = static_cast<double>(toNs(trace.range().end)) - static_cast<double>(toNs(first->second));
    return message<"trace.device_loss",
                   "GPU work is recorded only until {time} before the last event; the driver had not yet delivered "
                   "the records of later work">({{"time", ns / 1e3, timeText(ns / 1e3)}});
}

} // namespace profiler::wire
