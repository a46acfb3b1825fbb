#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/analysis/transfers.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace profiler::analysis {

/// What one device did, as times.
struct DeviceActivity {
    Intervals kernels;       ///< without communication
    Intervals communication; ///< kernels of NCCL and RCCL
    Intervals copies, memsets;
    int streams = 0; ///< that did something

    [[nodiscard]] Intervals allKernels() const;
    [[nodiscard]] Intervals any() const;
};

/// What the host's threads did, loader workers excepted, as times.
struct HostActivity {
    Intervals calls;     ///< runtime and driver calls, and waits
    Intervals dataWaits; ///< for the loader
    Intervals work;      ///< operators, as NVTX ranges too, and phases; marks of steps are none
    Intervals syncs, blockingCopies, allocations; ///< of the calls
    Intervals codeLoading;                        ///< of the calls, and what the profiler calls the driver's overhead
    Intervals communication;                      ///< operators and ranges that communicate
};

struct KindTotal {
    std::int64_t count = 0;
    Nanoseconds time{};
};

/// What summaries need of all slices of a trace, gathered in one walk over them.
struct ActivityScan {
    std::array<KindTotal, kActivityKinds> kinds{};
    std::int64_t shortKernels = 0; ///< under 10 µs
    KindTotal dataWaits;
    KindTotal syncCalls, blockingCopyCalls;
    KindTotal waits; ///< slices of kind Sync
    std::int64_t communicationKernels = 0;
    HostActivity host;
    std::map<DeviceId, DeviceActivity> devices;
    std::vector<Transfer> transfers;  ///< by time, largest first
    std::vector<KernelTotal> kernels; ///< by time, largest first

    [[nodiscard]] const KindTotal& of(ActivityKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

/// O(slices), and no memory for them: slices come in order, so that their unions grow at their ends.
/// @param threads  that walk; tracks are shared out among them
ActivityScan scanActivity(const Trace& trace, unsigned threads = 1);

} // namespace profiler::analysis
