#pragma once

#include "profiler/analysis/steady_state_steps.h"
#include "profiler/analysis/launched_work.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// A place in the program that calls into CUDA, and what its calls took: in the judged steps, else in the whole trace.
struct CallSite {
    std::string call; ///< "cudaMemsetAsync"; empty: the trace tells no call
    std::string
        ops; ///< operators around it, the outermost first: "aten::item > aten::_local_scalar_dense"; empty: none
    std::string
        range; ///< innermost NVTX range, annotation or Python function around it, without its number; empty: none
    std::string phase; ///< of the step, see Phases; empty: none
    std::int64_t count = 0;
    double countPerStep = 0; ///< in the whole part where there are no steps
    std::int64_t bytes = 0;  ///< set; 0 for calls that wait
    Nanoseconds time{};      ///< of the device's work for memsets, of the host for calls that wait
    SliceId longest;         ///< the memset, or the call
};

struct CallSites {
    std::vector<CallSite> sites; ///< by time, largest first
    std::int64_t count = 0;      ///< of memsets, or of calls
    std::int64_t unlinked = 0;   ///< memsets of which the trace tells no call
    Nanoseconds time{};
    std::string cannotTell; ///< why there are no sites; empty: there are
};

/// Who fills memory and who waits for a device.
struct CallSitesOfTrace {
    CallSites memsets;
    CallSites syncs; ///< …Synchronize, and copies that return when they are done; without calls, the waits themselves
};
/// O(slices · log) on the threads that make such calls.
/// @param stop  asked now and then; what is returned then means nothing
CallSitesOfTrace callSites(const Trace& trace, const LaunchCalls& calls, const JudgedPart& part,
                           const std::stop_token& stop = {});

} // namespace profiler::analysis
