#pragma once

#include "profiler/analysis/steady_state_steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// How one rank, told by its device, came to the collectives that several take part in.
struct RankArrival {
    DeviceId device;
    std::int64_t last = 0; ///< collectives to which it came last
    Nanoseconds waited{};  ///< its kernels, for the last one to come
};

/// Which rank the others wait for. Kernels of NCCL and RCCL of one name on different devices that overlap and end
/// together (within a tenth of the shortest one) are taken for one collective: none can end before all have begun, and
/// what one group of ranks does ends when it likes beside another's. Sends and receives are left out: that stages of a
/// pipeline wait for each other is their way of working.
struct Stragglers {
    std::vector<RankArrival> ranks; ///< by device
    std::int64_t collectives = 0;   ///< in which two or more devices took part, in the judged steps
    std::int64_t alone = 0;         ///< kernels that end with no other device's: their others lie in another trace
    Nanoseconds waited{};           ///< summed over ranks
    double waitedShare = 0;         ///< of the time of these collectives' kernels, [0, 1]
    Nanoseconds spread{};           ///< from first to last begin, the median collective
    SliceId worst;                  ///< the kernel that came last to the collective with the longest wait
    std::string cannotTell;         ///< why nothing stands here; empty: something does
};
/// O(n log n) in communication kernels.
/// @param stop  asked now and then; what is returned then means nothing
Stragglers stragglers(const Trace& trace, const JudgedPart& part, const std::stop_token& stop = {});

} // namespace profiler::analysis
