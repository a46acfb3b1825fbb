#include "profiler/capture/cupti/api.h"

#include "profiler/capture/cupti/source.h"

namespace profiler::capture {

const CuptiApi& systemCupti()
{
    static const CuptiApi api{
        .subscribe = cuptiSubscribe_v2,
        .unsubscribe = cuptiUnsubscribe,
        .enableDomain = cuptiEnableDomain,
        .setThreadIdType = cuptiSetThreadIdType,
        .setAttribute = cuptiActivitySetAttribute,
        .registerTimestampCallback = cuptiActivityRegisterTimestampCallback,
        .registerCallbacks = cuptiActivityRegisterCallbacks,
        .enable = cuptiActivityEnable,
        .disable = cuptiActivityDisable,
        .enableRuntimeApi = cuptiActivityEnableRuntimeApi,
        .enableDriverApi = cuptiActivityEnableDriverApi,
        .enableAllSyncRecords = cuptiActivityEnableAllSyncRecords,
        .flushAll = cuptiActivityFlushAll,
        .getNumDroppedRecords = cuptiActivityGetNumDroppedRecords,
        .getNextRecord = cuptiActivityGetNextRecord,
        .getCallbackName = cuptiGetCallbackName,
        .getResultString = cuptiGetResultString,
        .getVersion = cuptiGetVersion,
        .callDriver = callLoadedDriver,
    };
    return api;
}

} // namespace profiler::capture
