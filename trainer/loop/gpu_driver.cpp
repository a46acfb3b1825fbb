#include "trainer/loop/gpu_driver.h"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>

namespace trainer {

namespace {

// The few entry points of the driver's interface that are needed, as cuda.h declares them.
struct Uuid {
    std::array<unsigned char, 16> bytes{};
};
using Init = int (*)(unsigned);
using GetInteger = int (*)(int*);
using GetDevice = int (*)(int*, int);
using GetName = int (*)(char*, int, int);
using GetUuid = int (*)(Uuid*, int);
using GetAttribute = int (*)(int*, int, int);
constexpr int kNoDevice = 100, kSystemNotReady = 802, kMismatch = 803;
constexpr int kMajor = 75, kMinor = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
constexpr int kOldestDriver = 13000;    // the CUDA version that this LibTorch is built for: driver 580
constexpr int kOldestArchitecture = 75;

template <class Function>
Function entry(void* library, const char* name)
{
    return reinterpret_cast<Function>(dlsym(library, name));
}

GpuState unusable(std::string reason)
{
    return {false, std::move(reason), {}, {}, 0};
}

std::string initFailure(int status)
{
    switch (status) {
    case kNoDevice:
        return "the NVIDIA driver sees no GPU (is CUDA_VISIBLE_DEVICES empty?)";
    case kSystemNotReady:
        return "the GPUs are not ready yet: the fabric manager must run";
    case kMismatch:
        return "the NVIDIA driver's library and kernel module are of different versions: restart the machine";
    default:
        return fmt::format("the NVIDIA driver cannot be started (error {})", status);
    }
}

std::string uuidText(const Uuid& uuid)
{
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.bytes.size(); ++i)
        text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
    return text;
}

GpuState askFirstDevice(void* library, int count)
{
    const auto getDevice = entry<GetDevice>(library, "cuDeviceGet");
    const auto getName = entry<GetName>(library, "cuDeviceGetName");
    const auto getUuid = entry<GetUuid>(library, "cuDeviceGetUuid");
    const auto getAttribute = entry<GetAttribute>(library, "cuDeviceGetAttribute");
    int device = 0, major = 0, minor = 0;
    std::array<char, 256> name{};
    Uuid uuid;
    if (!getDevice || !getName || !getUuid || !getAttribute || getDevice(&device, 0) != 0 ||
        getName(name.data(), static_cast<int>(name.size()), device) != 0 || getUuid(&uuid, device) != 0 ||
        getAttribute(&major, kMajor, device) != 0 || getAttribute(&minor, kMinor, device) != 0)
        return unusable("the NVIDIA driver does not tell about its first GPU");
    if (major * 10 + minor < kOldestArchitecture)
        return unusable(fmt::format("{} is too old: it has compute capability {}.{}, and 7.5 is needed", name.data(),
                                    major, minor));
    return {true, {}, name.data(), uuidText(uuid), count};
}

} // namespace

GpuState askGpuDriver()
{
    // Kept open: LibTorch's CUDA libraries use the same one later.
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return unusable("there is no NVIDIA driver on this machine (libcuda.so.1)");
    const auto init = entry<Init>(library, "cuInit");
    const auto version = entry<GetInteger>(library, "cuDriverGetVersion");
    const auto count = entry<GetInteger>(library, "cuDeviceGetCount");
    if (!init || !version || !count)
        return unusable("libcuda.so.1 is no NVIDIA driver");
    int number = 0;
    if (version(&number) == 0 && number < kOldestDriver)
        return unusable(fmt::format("the NVIDIA driver is too old: it has CUDA {}.{}, and 13.0 (driver 580) is needed",
                                    number / 1000, number % 1000 / 10));
    if (const int status = init(0); status != 0)
        return unusable(initFailure(status));
    if (count(&number) != 0 || number == 0)
        return unusable(initFailure(kNoDevice));
    return askFirstDevice(library, number);
}

profiler::Result<void> enoughGpus(const config::TrainingConfig& config, const GpuState& gpu,
                                  std::optional<int> localRank)
{
    namespace key = config::key;
    const std::string kind = config[key::parallel];
    if (!gpu.available || config[key::device] == "cpu" || kind == "none")
        return {};
    const bool isRank = kind == "ddp" && localRank;
    const std::int64_t needed = isRank ? *localRank + 1 : config[key::localRanks];
    if (needed <= gpu.count)
        return {};
    const std::string asked =
        isRank ? fmt::format("LOCAL_RANK = {}", *localRank) : fmt::format("{} = {}", key::localRanks.name, needed);
    return profiler::fail<"device.few_gpus", "{asked} with parallel.kind = {kind} needs {needed} GPUs, one for each "
                                             "{each}, and this process sees {count}">(
        profiler::Error::Code::Invalid, "CUDA_VISIBLE_DEVICES",
        isRank ? "start fewer ranks, or set device=cpu"
               : fmt::format("set {} to at most {}, or device=cpu", key::localRanks.name, gpu.count),
        {{"asked", asked},
         {"kind", kind},
         {"needed", needed},
         {"each", kind == "ddp" ? "rank" : "copy"},
         {"count", gpu.count}});
}

} // namespace trainer
