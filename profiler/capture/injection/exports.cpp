#include "profiler/capture/injection/cuda_recording.h"
#include "profiler/capture/injection/named_lanes.h"
#include "profiler/capture/injection/nvtx_handlers.h"
#include "profiler/capture/injection/op_ranges.h"
#include "profiler/capture/injection/process_recording.h"

#include <cstdlib>

/// All that the library shows: the entry points that NVTX and the CUDA driver call, and C functions for the Python
/// module. None throws, not even where memory runs out; each does nothing in a process that is not recorded.
#define STEPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace profiler;
using namespace profiler::capture;

namespace {

__attribute__((constructor)) void whenLoaded()
{
    injection::unlessMemoryLacks(injection::followForks);
    std::atexit(injection::end);
}

} // namespace

/// Called by NVTX, for NVTX_INJECTION64_PATH.
STEPSCOPE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t exportTable)
{
    return injection::unlessMemoryLacks([&] { return injection::attachNvtx(exportTable) ? 1 : 0; });
}

/// Called by the CUDA driver when a program initialises it, for CUDA_INJECTION64_PATH.
STEPSCOPE_EXPORT int InitializeInjection(void)
{
    return injection::unlessMemoryLacks([&] {
        injection::recordCuda();
        return 1;
    });
}

/// Opens this process's part of the trace, if that was not done. @return 1 when the process is recorded, or will be
/// once the recording's window begins
STEPSCOPE_EXPORT int stepscope_start(void)
{
    return injection::unlessMemoryLacks([&] { return injection::recorder() || injection::isWaiting() ? 1 : 0; });
}

/// Lets a process that ended its part begin another one, with the variables that are in force now.
STEPSCOPE_EXPORT void stepscope_restart(void)
{
    injection::restart();
}

/// Ends this process's part of the trace well; for processes that leave by _exit.
STEPSCOPE_EXPORT void stepscope_end(void)
{
    injection::end();
}

/// Trace time in ns.
STEPSCOPE_EXPORT std::int64_t stepscope_now(void)
{
    return toNs(TraceClock::now());
}

/// @param name  as profiler::activityName() has it: "step", "phase", "loader_stage". @return −1: there is no such kind
STEPSCOPE_EXPORT int stepscope_kind(const char* name)
{
    return injection::unlessMemoryLacks([&] {
        const auto kind = activityFromName(name ? name : "");
        return kind ? static_cast<int>(*kind) : -1;
    });
}

/// A track of this process; the same one for the same name.
/// @param kind  0: a thread; 1: the main thread; 2: a loader worker
STEPSCOPE_EXPORT int stepscope_lane(const char* name, int kind)
{
    return injection::unlessMemoryLacks([&] { return injection::namedLanes().lane(name ? name : "", kind); });
}

/// Begins a range on a track, which is shown as open while it lasts.
STEPSCOPE_EXPORT void stepscope_open(int lane, int kind, const char* name, std::int64_t value)
{
    injection::unlessMemoryLacks([&] { injection::namedLanes().open(lane, kind, name ? name : "", value); });
}

/// Ends the innermost open range of a track.
STEPSCOPE_EXPORT void stepscope_close(int lane)
{
    injection::unlessMemoryLacks([&] { injection::namedLanes().close(lane); });
}

/// A loader begins to make a batch, to put its samples together, and has made it.
STEPSCOPE_EXPORT void stepscope_fetch_begins(int lane)
{
    injection::unlessMemoryLacks([&] { injection::namedLanes().fetchBegins(lane); });
}
STEPSCOPE_EXPORT void stepscope_collate_begins(int lane)
{
    injection::unlessMemoryLacks([&] { injection::namedLanes().collateBegins(lane); });
}
STEPSCOPE_EXPORT void stepscope_fetch_ends(int lane)
{
    injection::unlessMemoryLacks([&] { injection::namedLanes().fetchEnds(lane); });
}

/// A whole range, begin and end in trace time.
STEPSCOPE_EXPORT void stepscope_complete(int lane, int kind, const char* name, std::int64_t begin, std::int64_t end,
                                         std::int64_t value)
{
    injection::unlessMemoryLacks([&] {
        injection::namedLanes().complete(lane, kind, name ? name : "", {traceTime(begin), traceTime(end)}, value);
    });
}

/// A fact about the run: "versions.torch" → "2.11.0".
STEPSCOPE_EXPORT void stepscope_metadata(const char* key, const char* value)
{
    injection::unlessMemoryLacks([&] {
        if (key && value)
            injection::tell(key, value);
    });
}

/// A sample of a counter, at a trace time in ns.
STEPSCOPE_EXPORT void stepscope_counter(int lane, const char* name, const char* unit, double value, std::int64_t time)
{
    injection::unlessMemoryLacks(
        [&] { injection::namedLanes().sample(lane, name ? name : "", unit ? unit : "", value, traceTime(time)); });
}

/// Whether ranges of NVTX's default domain are LibTorch's operators from now on.
STEPSCOPE_EXPORT void stepscope_operators(int on)
{
    injection::takeOperatorsFromNvtx(on != 0);
}

/// An operator of the process's LibTorch begins on the calling thread.
/// @param flags  1: a backward node; 2: a range that the program names itself; 4: it may end on any thread
/// @param shapes, types  of its inputs; null: not asked for
/// @param owner  an address that no other operator has until it ends
STEPSCOPE_EXPORT void stepscope_op_begin(const char* name, std::int64_t sequence, int flags, const char* shapes,
                                         const char* types, const void* owner)
{
    injection::unlessMemoryLacks([&] {
        injection::beginOp({.name = name,
                            .sequence = sequence,
                            .backward = (flags & 1) != 0,
                            .annotation = (flags & 2) != 0,
                            .async = (flags & 4) != 0,
                            .shapes = shapes,
                            .types = types,
                            .owner = owner});
    });
}

/// The operator of that owner ends, on whichever thread it began.
STEPSCOPE_EXPORT void stepscope_op_end(const void* owner)
{
    injection::unlessMemoryLacks([&] { injection::endOp(owner); });
}
