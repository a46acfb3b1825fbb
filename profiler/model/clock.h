#pragma once

#include "profiler/os/machine.h"

#include <chrono>
#include <cstdint>

namespace profiler {

/// Trace time: CLOCK_MONOTONIC in int64 ns. Times of every other clock are converted where they enter the program.
struct TraceClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<TraceClock>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept { return time_point(os::monotonicTime()); }
};
using Nanoseconds = std::chrono::nanoseconds;
using TraceTime = TraceClock::time_point;

constexpr TraceTime traceTime(std::int64_t ns)
{
    return TraceTime{Nanoseconds{ns}};
}
constexpr std::int64_t toNs(TraceTime time)
{
    return time.time_since_epoch().count();
}

/// Half-open interval [begin, end) of trace time.
struct TimeRange {
    TraceTime begin{}, end{};

    [[nodiscard]] constexpr Nanoseconds duration() const { return end > begin ? end - begin : Nanoseconds{0}; }
    [[nodiscard]] constexpr bool empty() const { return end <= begin; }
    [[nodiscard]] constexpr bool contains(TraceTime time) const { return begin <= time && time < end; }
    [[nodiscard]] constexpr bool overlaps(TimeRange other) const { return begin < other.end && other.begin < end; }
    [[nodiscard]] constexpr TimeRange clippedTo(TimeRange window) const
    {
        const TimeRange both{begin > window.begin ? begin : window.begin, end < window.end ? end : window.end};
        return both.empty() ? TimeRange{both.begin, both.begin} : both;
    }
    friend constexpr bool operator==(const TimeRange&, const TimeRange&) = default;
};

} // namespace profiler
