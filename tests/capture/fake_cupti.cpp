#include "tests/capture/fake_cupti.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace capture_test {

CUptiResult FakeCupti::call(const std::string& name)
{
    const std::lock_guard lock(m_mutex);
    calls.push_back(name);
    const auto failure = failures.find(name);
    return failure != failures.end() ? failure->second : CUPTI_SUCCESS;
}

FakeCupti::FakeCupti() : api(profiler::capture::systemCupti())
{
    api.subscribe = [this](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user,
                           CUpti_SubscriberParams* params) {
        m_callback = callback;
        m_user = user;
        const CUptiResult status = call("subscribe");
        if (status == CUPTI_SUCCESS)
            *handle = reinterpret_cast<CUpti_SubscriberHandle>(this);
        else
            std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", otherTool.c_str());
        return status;
    };
    api.unsubscribe = [this](CUpti_SubscriberHandle) { return call("unsubscribe"); };
    api.enableDomain = [this](std::uint32_t on, CUpti_SubscriberHandle, CUpti_CallbackDomain domain) {
        return call("domain " + std::to_string(domain) + " " + std::to_string(on));
    };
    api.setThreadIdType = [this](CUpti_ActivityThreadIdType) { return call("thread ids"); };
    api.setAttribute = [this](CUpti_ActivityAttribute attribute, size_t*, void*) {
        return call("attribute " + std::to_string(attribute));
    };
    api.registerTimestampCallback = [this](CUpti_TimestampCallbackFunc function) {
        clock = function;
        return call("clock");
    };
    api.registerCallbacks = [this](CUpti_BuffersCallbackRequestFunc requested,
                                   CUpti_BuffersCallbackCompleteFunc completed) {
        m_request = requested;
        m_complete = completed;
        return call("callbacks");
    };
    api.enable = [this](CUpti_ActivityKind kind) {
        const CUptiResult status = call("enable " + std::to_string(kind));
        if (status == CUPTI_SUCCESS)
            enabled.insert(kind);
        return status;
    };
    api.disable = [this](CUpti_ActivityKind kind) {
        enabled.erase(kind);
        return call("disable " + std::to_string(kind));
    };
    api.enableRuntimeApi = [this](CUpti_CallbackId, uint8_t) { return call("filter runtime"); };
    api.callDriver = [this] {
        CuptiBuffer record;
        record.timed<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER, 1, 2).cbid =
            CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion;
        if (!takenOver)
            put(record);
    };
    api.enableDriverApi = [this](CUpti_CallbackId id, uint8_t on) {
        return call("driver " + std::to_string(id) + " " + std::to_string(on));
    };
    api.enableAllSyncRecords = [this](uint8_t on) { return call("all syncs " + std::to_string(on)); };
    api.flushAll = [this](uint32_t flag) {
        const CUptiResult status = call("flush " + std::to_string(flag));
        handOver();
        ++flushes;
        return status;
    };
    api.getNumDroppedRecords = [this](CUcontext, uint32_t, size_t* count) {
        *count = dropped.exchange(0);
        return CUPTI_SUCCESS;
    };
}

void FakeCupti::reportState(CUpti_CallbackIdState id, CUptiResult status, const char* message)
{
    CUpti_StateData data{};
    data.notification.result = status;
    data.notification.message = message;
    m_callback(m_user, CUPTI_CB_DOMAIN_STATE, id, &data);
}

std::uint8_t* FakeCupti::request(std::size_t* size, std::size_t* most)
{
    std::uint8_t* buffer = nullptr;
    std::size_t records = 1;
    m_request(&buffer, size, most ? most : &records);
    if (buffer && !std::all_of(buffer, buffer + *size, [](std::uint8_t byte) { return byte == 0; }))
        buffersWereZero = false;
    return buffer;
}

void FakeCupti::complete(std::uint8_t* buffer, std::size_t size, std::size_t valid)
{
    m_complete(nullptr, 0, buffer, size, valid);
}

void FakeCupti::put(CuptiBuffer& records)
{
    std::size_t size = 0;
    std::uint8_t* buffer = request(&size);
    if (!buffer || records.size() > size) {
        ++dropped;
        return;
    }
    std::memcpy(buffer, records.data(), records.size());
    const std::lock_guard lock(m_mutex);
    m_filled.push_back({buffer, size, records.size()});
}

void FakeCupti::handOver()
{
    std::vector<Filled> taken;
    {
        const std::lock_guard lock(m_mutex);
        taken = std::exchange(m_filled, {});
    }
    for (const Filled& filled : taken)
        complete(filled.buffer, filled.size, filled.valid);
}

} // namespace capture_test
