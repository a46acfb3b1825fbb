#include "profiler/capture/cupti_api.h"

#include "profiler/capture/cupti_source.h"

namespace profiler::capture {

const CuptiApi& systemCupti()
{
    static const CuptiApi api{
        .subscribe = cuptiSubscribe_v2,
        .unsubscribe = cuptiUnsubscribe,
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
    };
    return api;
}

} // namespace profiler::capture
