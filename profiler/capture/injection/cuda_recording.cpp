#include "profiler/capture/injection/cuda_recording.h"

#include "profiler/capture/cupti/api.h"
#include "profiler/capture/cupti/source.h"
#include "profiler/capture/injection/process_recording.h"
#include "profiler/capture/injection/variables.h"
#include "profiler/os/libraries.h"
#include "profiler/os/process.h"

#include <cstdlib>
#include <memory>

namespace profiler::capture::injection {

namespace {

constexpr const char* kCuptiNames[] = {"libcupti.so.13", "libcupti.so.12"};

os::Library openCupti()
{
    for (const char* name : kCuptiNames)
        if (const os::Library library = os::Library::loaded(name))
            return library;
    for (const char* name : kCuptiNames)
        if (const os::Library library = os::Library::open(name, os::Library::Binding::Lazy))
            return library;
    return {};
}

class Symbols {
public:
    explicit Symbols(os::Library library) : m_library(library) {}
    template <class Function>
    void get(std::function<Function>& to, const char* name)
    {
        if (auto* const symbol = m_library.function<Function>(name))
            to = symbol;
        else
            m_missing = name;
    }
    [[nodiscard]] const char* missing() const { return m_missing; }

private:
    os::Library m_library;
    const char* m_missing = nullptr;
};

Result<const CuptiApi*> load()
{
    const os::Library library = openCupti();
    if (!library)
        return fail<"cupti.not_found", "GPU work is not recorded: CUPTI not found">(
            Error::Code::Unavailable, "libcupti.so.13", "add its folder (cuda/extras/CUPTI/lib64) to LD_LIBRARY_PATH");
    static CuptiApi s_api;
    Symbols symbols(library);
    symbols.get(s_api.subscribe, "cuptiSubscribe_v2");
    const bool namesOtherTool = symbols.missing() == nullptr;
    symbols = Symbols(library);
    if (!namesOtherTool) {
        // Before 12.6: the same call, but it does not report the name of another tool.
        std::function<CUptiResult(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*)> subscribe;
        symbols.get(subscribe, "cuptiSubscribe");
        s_api.subscribe = [subscribe](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* data,
                                      CUpti_SubscriberParams*) { return subscribe(handle, callback, data); };
    }
    symbols.get(s_api.unsubscribe, "cuptiUnsubscribe");
    symbols.get(s_api.enableDomain, "cuptiEnableDomain");
    symbols.get(s_api.setThreadIdType, "cuptiSetThreadIdType");
    symbols.get(s_api.setAttribute, "cuptiActivitySetAttribute");
    symbols.get(s_api.registerTimestampCallback, "cuptiActivityRegisterTimestampCallback");
    symbols.get(s_api.registerCallbacks, "cuptiActivityRegisterCallbacks");
    symbols.get(s_api.enable, "cuptiActivityEnable");
    symbols.get(s_api.disable, "cuptiActivityDisable");
    symbols.get(s_api.enableRuntimeApi, "cuptiActivityEnableRuntimeApi");
    symbols.get(s_api.enableDriverApi, "cuptiActivityEnableDriverApi");
    symbols.get(s_api.flushAll, "cuptiActivityFlushAll");
    symbols.get(s_api.getNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
    symbols.get(s_api.getNextRecord, "cuptiActivityGetNextRecord");
    symbols.get(s_api.getCallbackName, "cuptiGetCallbackName");
    symbols.get(s_api.getResultString, "cuptiGetResultString");
    symbols.get(s_api.getVersion, "cuptiGetVersion");
    if (symbols.missing())
        return fail<"cupti.too_old", "GPU work is not recorded: this version of CUPTI lacks {function}">(
            Error::Code::Unsupported, "libcupti", "use CUDA 12.0 or later", {{"function", symbols.missing()}});
    symbols.get(s_api.enableAllSyncRecords, "cuptiActivityEnableAllSyncRecords");
    if (symbols.missing()) // missing in some versions of 12, which then record all synchronizations
        s_api.enableAllSyncRecords = [](std::uint8_t) { return CUPTI_SUCCESS; };
    s_api.callDriver = callLoadedDriver;
    return &s_api;
}

/// The program's CUPTI: the copy that it has already loaded (PyTorch's), or else one that the dynamic loader finds;
/// version 13 is preferred to 12. A second copy in the process would be a separate CUPTI that sees nothing. Fails if
/// there is no CUPTI, or if it lacks a required function. The result is valid as long as the process runs.
const Result<const CuptiApi*>& loadedCupti()
{
    static const Result<const CuptiApi*> s_loaded = load();
    return s_loaded;
}

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
