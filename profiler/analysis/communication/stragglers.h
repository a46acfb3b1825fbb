#pragma once

#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// When one rank, identified by its device, arrives at the collectives that it shares with other ranks.
struct RankArrival {
    DeviceId device;
    std::int64_t last = 0; ///< collectives at which it arrived last
    Nanoseconds waited{};  ///< time that its kernels waited for the last rank
};

/// Which rank the others wait for. Kernels of NCCL and RCCL with the same name on different devices that overlap and
/// end together (within a tenth of the shortest one) count as one collective: none of them can end before all have
/// started, whereas the collectives of another group of ranks end independently. Sends and receives are excluded,
/// because pipeline stages wait for each other by design.
struct Stragglers {
    std::vector<RankArrival> ranks; ///< by device
    std::int64_t collectives = 0;   ///< in the steady-state steps, with at least two devices
    std::int64_t alone = 0;         ///< kernels without a counterpart on another device: it is in another trace
    Nanoseconds waited{};           ///< summed over ranks
    double waitedShare = 0;         ///< share of the time of these collectives' kernels, [0, 1]
    Nanoseconds spread{};           ///< time from the first to the last start; median over the collectives
    SliceId worst;                  ///< the last kernel of the collective with the longest wait
    std::string cannotTell;         ///< the reason why there is no result; empty if there is one
};
/// O(n log n) in communication kernels.
/// @param stop  checked periodically; after a stop, the result is meaningless
Stragglers stragglers(const Trace& trace, const AnalysedPart& part, const std::stop_token& stop = {});

} // namespace profiler::analysis
