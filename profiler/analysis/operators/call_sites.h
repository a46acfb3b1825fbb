#pragma once

#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/steps/steps.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// A place in the program that calls CUDA, with the time of its calls. Covers the steady-state steps, or the whole
/// trace if there are none.
struct CallSite {
    std::string call; ///< "cudaMemsetAsync"; empty: the trace does not contain the call
    std::string ops;  ///< enclosing operators, outermost first: "aten::item > aten::_local_scalar_dense"; empty: none
    std::string
        range; ///< innermost NVTX range, annotation or Python function around it, without its number; empty: none
    std::string phase; ///< phase of the step, see Phases; empty: none
    std::int64_t count = 0;
    double countPerStep = 0; ///< without steps: the total count
    std::int64_t bytes = 0;  ///< bytes set; 0 for calls that wait
    Nanoseconds time{};      ///< device time for memsets, host time for calls that wait
    SliceId longest;         ///< the longest memset or call
};

struct CallSites {
    std::vector<CallSite> sites; ///< by total time, largest first
    std::int64_t count = 0;      ///< number of memsets or calls
    std::int64_t unlinked = 0;   ///< memsets without a recorded call
    Nanoseconds time{};
    std::string cannotTell; ///< the reason why there are no sites; empty if there are
};

/// The places in the program that fill memory and that wait for a device.
struct CallSitesOfTrace {
    CallSites memsets;
    CallSites syncs; ///< …Synchronize, and blocking copies; if no calls are recorded, the waits themselves
};
/// O(slices · log) on the threads that make such calls.
/// @param stop  checked periodically; after a stop, the result is meaningless
CallSitesOfTrace callSites(const Trace& trace, const LaunchCalls& calls, const AnalysedPart& part,
                           const std::stop_token& stop = {});

} // namespace profiler::analysis
