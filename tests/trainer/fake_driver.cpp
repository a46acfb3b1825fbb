// A libcuda.so.1 that answers what the test asks for in environment variables; no CUDA in it.

#include <cstdlib>
#include <cstring>

namespace {

int number(const char* variable, int fallback)
{
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : fallback;
}

} // namespace

extern "C" {

int cuInit(unsigned flags);
int cuDriverGetVersion(int* version);
int cuDeviceGetCount(int* count);
int cuDeviceGet(int* device, int index);
int cuDeviceGetName(char* name, int size, int device);
int cuDeviceGetUuid(void* uuid, int device);
int cuDeviceGetAttribute(int* value, int attribute, int device);

int cuInit(unsigned /*flags*/)
{
    return number("FAKE_CUDA_INIT", 0);
}
int cuDriverGetVersion(int* version)
{
    *version = number("FAKE_CUDA_VERSION", 13000);
    return 0;
}
int cuDeviceGetCount(int* count)
{
    *count = number("FAKE_CUDA_COUNT", 1);
    return 0;
}
int cuDeviceGet(int* device, int index)
{
    *device = index;
    return number("FAKE_CUDA_DEVICE", 0);
}
int cuDeviceGetName(char* name, int size, int /*device*/)
{
    std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
    return 0;
}
int cuDeviceGetUuid(void* uuid, int /*device*/)
{
    std::memset(uuid, 0x11, 16);
    return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int /*device*/)
{
    constexpr int kMajor = 75;
    const int capability = number("FAKE_CUDA_CAPABILITY", 80);
    *value = attribute == kMajor ? capability / 10 : capability % 10;
    return 0;
}
}
