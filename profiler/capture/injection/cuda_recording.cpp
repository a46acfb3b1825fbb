#include "profiler/capture/injection/cuda_recording.h"

#include "profiler/capture/cupti_source.h"
#include "profiler/capture/injection/loaded_cupti.h"
#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/injection/variables.h"

#include <cstdlib>
#include <memory>
#include <unistd.h>

namespace profiler::capture::injection {

namespace {

struct CudaRecording {
    std::unique_ptr<CuptiSource> source;
    std::uint64_t generation = 0; ///< a forked child cannot use its parent's CUDA, nor end its CUPTI
};

CudaRecording& cuda()
{
    static CudaRecording* s_cuda = new CudaRecording; // CUPTI may call until the process is gone
    return *s_cuda;
}

CaptureLevel wantedLevel()
{
    return captureLevelFromName(setting(variable::kLevel)).value_or(CaptureLevel::Standard);
}

void startCupti(Recorder& recorder)
{
    const auto& api = loadedCupti();
    if (!api) {
        recorder.setMetadata("gpu.note", profiler::messageLine(api.error().asMessage()));
        return;
    }
    auto source = CuptiSource::start(recorder, **api, {.level = wantedLevel()}); // what fails is in the trace
    if (!source)
        return;
    cuda() = {std::move(*source), g_generation.load()};
    // What is registered last is done first. CUPTI's own end, and that of its table of functions, were registered after
    // ours, when this library was loaded.
    std::atexit(end);
}

void stopCupti()
{
    if (cuda().source && cuda().generation == g_generation.load())
        static_cast<void>(cuda().source->stop()); // what failed is in the trace's notes
}

} // namespace

void recordCuda()
{
    static pid_t s_waits = 0;
    if (Recorder* const to = recorder()) {
        if (cuda().source && cuda().generation == g_generation.load())
            return;
        startCupti(*to);
        atEnd(stopCupti);
    } else if (isWaiting() && s_waits != getpid()) {
        s_waits = getpid();
        atStart([](Recorder& begun) {
            if (s_waits == getpid()) // a child by fork cannot use CUDA
                startCupti(begun);
        });
        atEnd(stopCupti);
    }
}

} // namespace profiler::capture::injection
