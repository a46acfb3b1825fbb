#pragma once

#include "profiler/os/libraries.h"

#include <cstdint>
#include <cupti.h>
#include <functional>

namespace profiler::capture {

static_assert(CUPTI_API_VERSION >= 130000, "records are decoded with the layout of CUPTI 13");

/// The CUPTI functions that the capture calls, as documented in cupti_activity.h: the real ones, or those of a test.
struct CuptiApi {
    std::function<CUptiResult(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, CUpti_SubscriberParams*)> subscribe;
    std::function<CUptiResult(CUpti_SubscriberHandle)> unsubscribe;
    std::function<CUptiResult(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain)> enableDomain;
    std::function<CUptiResult(CUpti_ActivityThreadIdType)> setThreadIdType;
    std::function<CUptiResult(CUpti_ActivityAttribute, size_t*, void*)> setAttribute;
    std::function<CUptiResult(CUpti_TimestampCallbackFunc)> registerTimestampCallback;
    std::function<CUptiResult(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc)> registerCallbacks;
    std::function<CUptiResult(CUpti_ActivityKind)> enable;
    std::function<CUptiResult(CUpti_ActivityKind)> disable;
    std::function<CUptiResult(CUpti_CallbackId, uint8_t)> enableRuntimeApi;
    std::function<CUptiResult(CUpti_CallbackId, uint8_t)> enableDriverApi;
    std::function<CUptiResult(uint8_t)> enableAllSyncRecords;
    std::function<CUptiResult(uint32_t)> flushAll;
    std::function<CUptiResult(CUcontext, uint32_t, size_t*)> getNumDroppedRecords;
    std::function<CUptiResult(uint8_t*, size_t, CUpti_Activity**)> getNextRecord;
    std::function<CUptiResult(CUpti_CallbackDomain, uint32_t, const char**)> getCallbackName;
    std::function<CUptiResult(CUptiResult, const char**)> getResultString;
    std::function<CUptiResult(uint32_t*)> getVersion;
    /// cuDriverGetVersion, the cheapest driver call that CUPTI records; used to check that records still reach us.
    std::function<void()> callDriver;
};

/// Calls cuDriverGetVersion of the driver that the process has loaded; does nothing without one. Does not link to
/// libcuda, which is missing on machines without a GPU. Thread-safe.
inline void callLoadedDriver()
{
    static auto* const s_getVersion = os::Library::loaded("libcuda.so.1").function<int(int*)>("cuDriverGetVersion");
    int version = 0;
    if (s_getVersion)
        s_getVersion(&version);
}

} // namespace profiler::capture
