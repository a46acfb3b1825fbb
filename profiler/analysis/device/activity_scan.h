#pragma once

#include "profiler/analysis/intervals.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What devices and host threads do, when and for how long: everything that summaries need, from one pass over a trace.
namespace profiler::analysis {

/// All copies of one kind between the same kinds of memory.
struct Transfer {
    CopyKind kind{};
    MemoryKind src{}, dst{};
    std::int64_t count = 0, bytes = 0;
    Nanoseconds time{}; ///< summed: copies that overlap count twice
    /// Achieved bandwidth in 10⁹ bytes per second; 0 if the time is zero.
    [[nodiscard]] double gbPerSecond() const
    {
        return time.count() > 0 ? static_cast<double>(bytes) / static_cast<double>(time.count()) : 0;
    }
};

/// All kernels of one name.
struct KernelTotal {
    std::string name;
    std::int64_t count = 0;
    Nanoseconds time{};
    std::optional<SliceId> longest{}; ///< where it is known
};

/// The activity of one device, as times.
struct DeviceActivity {
    Intervals kernels;       ///< without communication
    Intervals communication; ///< kernels of NCCL and RCCL
    Intervals copies, memsets;
    int streams = 0; ///< streams with work

    [[nodiscard]] Intervals allKernels() const;
    [[nodiscard]] Intervals any() const;
};

/// The activity of the host threads, without loader workers, as times.
struct HostActivity {
    Intervals calls;     ///< runtime and driver calls, and waits
    Intervals dataWaits; ///< waits for the data loader
    Intervals work;      ///< operators (including NVTX ranges of operators) and phases, but not step marks
    Intervals syncs, blockingCopies, allocations; ///< by kind of call
    Intervals codeLoading;                        ///< by calls, and overhead that the profiler attributes to the driver
    Intervals communication;                      ///< communication operators and ranges
};

struct KindTotal {
    std::int64_t count = 0;
    Nanoseconds time{};
};

/// Everything that summaries need from the slices of a trace, collected in one pass.
struct ActivityScan {
    std::array<KindTotal, kActivityKinds> kinds{};
    std::int64_t shortKernels = 0; ///< shorter than 10 µs
    KindTotal dataWaits;
    KindTotal syncCalls, blockingCopyCalls;
    KindTotal waits; ///< slices of kind Sync
    std::int64_t communicationKernels = 0;
    HostActivity host;
    std::map<DeviceId, DeviceActivity> devices;
    std::vector<Transfer> transfers;  ///< by total time, largest first
    std::vector<KernelTotal> kernels; ///< by total time, largest first

    [[nodiscard]] const KindTotal& of(ActivityKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

/// O(slices) time. Uses little memory, because slices are visited in order and unions only grow at their ends.
/// @param threads  number of threads; the tracks are distributed among them
ActivityScan scanActivity(const Trace& trace, unsigned threads = 1);

/// Kernels of collective communication.
struct Communication {
    std::int64_t kernels = 0;
    Nanoseconds time{};    ///< union over the device's streams
    Nanoseconds exposed{}; ///< the part of it in which no other kernel ran
};
Communication communication(const ActivityScan& scan);

} // namespace profiler::analysis
