#include "profiler/model/clock.h"

#include <ctime>

namespace profiler {

TraceTime TraceClock::now() noexcept
{
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time); // a vDSO read; cannot fail for this clock
    return traceTime(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

} // namespace profiler
