#include "profiler/capture/injection/cuda_recording.h"

#include "profiler/capture/cupti/source.h"
#include "profiler/capture/injection/loaded_cupti.h"
#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/os/process.h"

#include <cstdlib>
#include <memory>

namespace profiler::capture::injection {

namespace {

struct CudaRecording {
    std::unique_ptr<CuptiSource> source;
    std::uint64_t generation = 0; ///< a forked child can neither use its parent's CUDA nor end its CUPTI
};

CudaRecording& cuda()
{
    static CudaRecording* s_cuda = new CudaRecording; // never destroyed: CUPTI may call back until the process ends
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
    auto source = CuptiSource::start(recorder, **api, {.level = wantedLevel()}); // failures are noted in the trace
    if (!source)
        return;
    cuda() = {std::move(*source), g_generation.load()};
    // Exit handlers run in reverse order of registration. Those of CUPTI and of its function table were registered
    // after ours (which was registered when this library was loaded), so register ours again.
    std::atexit(end);
}

void stopCupti()
{
    if (cuda().source && cuda().generation == g_generation.load())
        static_cast<void>(cuda().source->stop()); // failures are in the trace's notes
}

} // namespace

void recordCuda()
{
    static os::ProcessId s_waits = 0;
    if (Recorder* const to = recorder()) {
        if (cuda().source && cuda().generation == g_generation.load())
            return;
        startCupti(*to);
        atEnd(stopCupti);
    } else if (isWaiting() && s_waits != os::processId()) {
        s_waits = os::processId();
        atStart([](Recorder& begun) {
            if (s_waits == os::processId()) // a forked child cannot use CUDA
                startCupti(begun);
        });
        atEnd(stopCupti);
    }
}

} // namespace profiler::capture::injection
