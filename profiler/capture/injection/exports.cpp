#include "profiler/capture/injection/cuda_recording.h"
#include "profiler/capture/injection/hook_recording.h"
#include "profiler/capture/injection/line_samples.h"
#include "profiler/capture/injection/nvtx_handlers.h"
#include "profiler/capture/injection/process_recording.h"

#include <cstdlib>

/// Everything that the library exports: the entry points that NVTX and the CUDA driver call, and C functions for the
/// Python module. None of them throws, even if memory runs out; in a process that is not recorded, they do nothing.
#define STEPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

using namespace profiler;
using namespace profiler::capture;

namespace {

__attribute__((constructor)) void onLoad()
{
    injection::stopOnBadAlloc(injection::followForks);
    std::atexit(injection::end);
}

} // namespace

/// Called by NVTX, see NVTX_INJECTION64_PATH.
STEPSCOPE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t exportTable)
{
    return injection::stopOnBadAlloc([&] { return injection::attachNvtx(exportTable) ? 1 : 0; });
}

/// Called by the CUDA driver when a program initializes it, see CUDA_INJECTION64_PATH.
STEPSCOPE_EXPORT int InitializeInjection(void)
{
    return injection::stopOnBadAlloc([&] {
        injection::recordCuda();
        return 1;
    });
}

/// Opens this process's part of the trace if it is not open yet.
/// @return 1 if the process is recorded, or will be when the recording window starts
STEPSCOPE_EXPORT int stepscope_start(void)
{
    return injection::stopOnBadAlloc([&] { return injection::recorder() || injection::isWaiting() ? 1 : 0; });
}

/// Lets a process that has ended its part start another one, with the current values of the variables.
STEPSCOPE_EXPORT void stepscope_restart(void)
{
    injection::restart();
}

/// Ends this process's part of the trace properly; for processes that exit with _exit.
STEPSCOPE_EXPORT void stepscope_end(void)
{
    injection::end();
}

/// The training loop enters the first of the steps that STEPSCOPE_STEPS names, and leaves the last one.
STEPSCOPE_EXPORT void stepscope_steps_enter(void)
{
    injection::stopOnBadAlloc(injection::enterSteps);
}
STEPSCOPE_EXPORT void stepscope_steps_leave(void)
{
    injection::stopOnBadAlloc(injection::leaveSteps);
}

/// @param name  as returned by profiler::activityName(): "step", "phase", "loader_stage"
/// @return −1 if there is no such kind
STEPSCOPE_EXPORT int stepscope_kind(const char* name)
{
    return injection::stopOnBadAlloc([&] {
        const auto kind = activityFromName(name ? name : "");
        return kind ? static_cast<int>(*kind) : -1;
    });
}

/// A track of this process; returns the same track for the same name.
/// @param kind  0: a thread; 1: the main thread; 2: a loader worker
STEPSCOPE_EXPORT int stepscope_lane(const char* name, int kind)
{
    return injection::stopOnBadAlloc([&] { return injection::namedBuffers().buffer(name ? name : "", kind); });
}

/// Starts a range on a track; it is shown as open while it lasts.
STEPSCOPE_EXPORT void stepscope_open(int track, int kind, const char* name, std::int64_t value)
{
    injection::stopOnBadAlloc([&] { injection::namedBuffers().open(track, kind, name ? name : "", value); });
}

/// Ends the innermost open range of a track.
STEPSCOPE_EXPORT void stepscope_close(int track)
{
    injection::stopOnBadAlloc([&] { injection::namedBuffers().close(track); });
}

/// A loader starts to fetch a batch, starts to collate its samples, and has finished.
STEPSCOPE_EXPORT void stepscope_fetch_begins(int track)
{
    injection::stopOnBadAlloc([&] {
        injection::followSteps();
        injection::namedBuffers().fetchBegins(track);
    });
}
STEPSCOPE_EXPORT void stepscope_collate_begins(int track)
{
    injection::stopOnBadAlloc([&] { injection::namedBuffers().collateBegins(track); });
}
STEPSCOPE_EXPORT void stepscope_fetch_ends(int track)
{
    injection::stopOnBadAlloc([&] { injection::namedBuffers().fetchEnds(track); });
}

/// Records a complete range; start and end are trace times.
STEPSCOPE_EXPORT void stepscope_complete(int track, int kind, const char* name, std::int64_t begin, std::int64_t end,
                                         std::int64_t value)
{
    injection::stopOnBadAlloc([&] {
        injection::namedBuffers().complete(track, kind, name ? name : "", {traceTime(begin), traceTime(end)}, value);
    });
}

/// Adds metadata about the run: "versions.torch" → "2.11.0".
STEPSCOPE_EXPORT void stepscope_metadata(const char* key, const char* value)
{
    injection::stopOnBadAlloc([&] {
        if (key && value)
            injection::addMetadata(key, value);
    });
}

/// Records a sample of a counter, at a trace time in ns.
STEPSCOPE_EXPORT void stepscope_counter(int track, const char* name, const char* unit, double value, std::int64_t time)
{
    injection::stopOnBadAlloc(
        [&] { injection::namedBuffers().sample(track, name ? name : "", unit ? unit : "", value, traceTime(time)); });
}

/// From now on, whether ranges of NVTX's default domain are LibTorch operators.
STEPSCOPE_EXPORT void stepscope_operators(int on)
{
    injection::takeOperatorsFromNvtx(on != 0);
}

/// An operator of the process's LibTorch starts on the calling thread.
/// @param flags  1: a backward node; 2: a range named by the program; 4: it may end on any thread
/// @param shapes, types  of the inputs; null if not requested
/// @param owner  an address that no other operator uses until this one ends
STEPSCOPE_EXPORT void stepscope_op_begin(const char* name, std::int64_t sequence, int flags, const char* shapes,
                                         const char* types, const void* owner)
{
    injection::stopOnBadAlloc([&] {
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

/// The operator with that owner ends, on whichever thread it started.
STEPSCOPE_EXPORT void stepscope_op_end(const void* owner)
{
    injection::stopOnBadAlloc([&] { injection::endOp(owner); });
}

/// Samples the user's lines that the calling Python thread executes, from now on; see LineSampling.
/// @return 0 if that is not possible
STEPSCOPE_EXPORT int stepscope_lines_start(const char* libraries, std::int64_t interval, int isMainThread, int needsGil,
                                           void (*totals)(std::int64_t*))
{
    return injection::stopOnBadAlloc([&] {
        return injection::startLineSamples({.libraries = libraries,
                                            .intervalNs = interval,
                                            .isMainThread = isMainThread != 0,
                                            .needsGil = needsGil != 0,
                                            .totals = totals})
                   ? 1
                   : 0;
    });
}

/// Samples a Python frame of a thread other than the main thread. @return the time until the next sample, in ns
STEPSCOPE_EXPORT std::int64_t stepscope_lines_sample(void* frame)
{
    return injection::stopOnBadAlloc([&] { return injection::sampleLines(frame); });
}

/// Passes what was sampled so far, see readLineSamples().
STEPSCOPE_EXPORT void stepscope_lines_read(void (*place)(void*, int), void (*rest)(const char*))
{
    injection::stopOnBadAlloc([&] { injection::readLineSamples(place, rest); });
}

/// Stops sampling; called without the GIL.
STEPSCOPE_EXPORT void stepscope_lines_stop(void)
{
    injection::stopLineSamples();
}

/// In a forked child: forgets the parent's samples.
STEPSCOPE_EXPORT void stepscope_lines_abandon(void)
{
    injection::abandonLineSamples();
}
