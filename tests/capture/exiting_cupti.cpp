#include <cstring>
#include <cupti.h>
#include <unistd.h>

/// A library that replaces CUPTI. It has no GPU and, like the real one, an exit handler. It reports on stderr in what
/// state it was at exit, and each call after that.

namespace {

enum class Use { Never, On, LetGo };

struct Library {
    Use use = Use::Never;
    bool ended = false;
};

void say(const char* text)
{
    static_cast<void>(!write(STDERR_FILENO, text, std::strlen(text)));
}

Library& library()
{
    static Library s_library; // never destroyed: it is used after its exit handler
    return s_library;
}

struct End {
    End() = default;
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    ~End()
    {
        library().ended = true;
        say(library().use == Use::Never ? "CUPTI was not used\n"
            : library().use == Use::On  ? "CUPTI is in use at exit\n"
                                        : "CUPTI is unsubscribed at exit\n");
    }
} s_end;

CUptiResult called()
{
    if (library().ended)
        say("CUPTI is called after exit\n");
    return CUPTI_SUCCESS;
}

} // namespace

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*,
                                       CUpti_SubscriberParams*)
{
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&s_end);
    library().use = Use::On;
    return called();
}
CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle)
{
    library().use = Use::LetGo;
    return called();
}
CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain)
{
    return called();
}
CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityEnableAllSyncRecords(uint8_t)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t)
{
    return called();
}
CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped)
{
    *dropped = 0;
    return called();
}
CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t*, size_t, CUpti_Activity**)
{
    called();
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
}
CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char** name)
{
    *name = "";
    return called();
}
CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult, const char** text)
{
    *text = "";
    return called();
}
CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version)
{
    *version = CUPTI_API_VERSION;
    return called();
}
