#include "profiler/model/clock.h"

#include "profiler/os/clocks.h"

namespace profiler {

TraceTime TraceClock::now() noexcept
{
    return TraceTime(os::monotonicTime());
}

} // namespace profiler
