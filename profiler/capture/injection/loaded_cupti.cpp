#include "profiler/capture/injection/loaded_cupti.h"

#include "profiler/capture/loaded_driver.h"
#include "profiler/os/libraries.h"

namespace profiler::capture::injection {

namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};

os::Library openCupti()
{
    for (const char* name : kNames)
        if (const os::Library library = os::Library::loaded(name))
            return library;
    for (const char* name : kNames)
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

} // namespace

const Result<const CuptiApi*>& loadedCupti()
{
    static const Result<const CuptiApi*> s_loaded = load();
    return s_loaded;
}

} // namespace profiler::capture::injection
