#include "profiler/capture/clock_alignment.h"

#include "profiler/capture/fast_clock.h"
#include "profiler/os/clocks.h"

namespace profiler::capture {

container::ClockTriple readClocks()
{
    constexpr int kTries = 5;
    container::ClockTriple best{};
    std::int64_t closest = 0;
    for (int i = 0; i < kTries; ++i) {
        const std::int64_t before = os::monotonicTime().count();
        const std::int64_t realtime = os::realTime().count();
        const std::uint64_t tsc = timeStampCounter();
        const std::int64_t after = os::monotonicTime().count();
        if (i == 0 || after - before < closest) {
            closest = after - before;
            best = {before + (after - before) / 2, realtime, tsc};
        }
    }
    return best;
}

} // namespace profiler::capture
