#include "tests/capture/fake_nvml.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace {

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3;

std::vector<capture_test::FakeGpu>& gpus()
{
    static std::vector<capture_test::FakeGpu> all;
    return all;
}

template <class Value>
int give(const std::optional<Value>& value, Value* to)
{
    if (!value)
        return kNotSupported;
    *to = *value;
    return kSuccess;
}

const capture_test::FakeGpu& gpuOf(void* device)
{
    return *static_cast<const capture_test::FakeGpu*>(device);
}

} // namespace

namespace capture_test {

void setFakeGpus(std::vector<FakeGpu> all)
{
    gpus() = std::move(all);
}

} // namespace capture_test

extern "C" {

int nvmlInit_v2()
{
    return kSuccess;
}

int nvmlShutdown()
{
    return kSuccess;
}

int nvmlDeviceGetCount_v2(unsigned* count)
{
    *count = static_cast<unsigned>(gpus().size());
    return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device)
{
    if (index >= gpus().size())
        return kInvalidArgument;
    *device = &gpus()[index];
    return kSuccess;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size)
{
    const std::string& text = gpuOf(device).uuid;
    if (text.size() >= size)
        return kInvalidArgument;
    *std::copy(text.begin(), text.end(), uuid) = '\0';
    return kSuccess;
}

int nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* generation)
{
    return give(gpuOf(device).maxGeneration, generation);
}

int nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* width)
{
    return give(gpuOf(device).width, width);
}

int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons)
{
    return give(gpuOf(device).eventReasons, reasons);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons)
{
    return give(gpuOf(device).throttleReasons, reasons);
}
}
