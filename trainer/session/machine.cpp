#include "trainer/session/machine.h"

#include "profiler/os/libraries.h"
#include "profiler/os/memory.h"
#include "profiler/os/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <optional>
#include <sstream>

namespace trainer {

namespace fs = std::filesystem;
using profiler::message;
using profiler::Message;
using profiler::os::Library;

namespace {

std::string wholeFile(const fs::path& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

// The process's own control group: the text after the last colon of the line that starts with `prefix`
// ("0::/user.slice").
std::string groupOf(const fs::path& root, const std::string& prefix)
{
    std::istringstream lines(wholeFile(root / "proc/self/cgroup"));
    for (std::string line; std::getline(lines, line);)
        if (line.find(prefix) != std::string::npos)
            return line.substr(line.rfind(':') + 1);
    return "/";
}

std::optional<double> quotaShare(const std::string& quota, const std::string& period)
{
    char* end = nullptr;
    const double part = std::strtod(quota.c_str(), &end);
    if (end == quota.c_str() || part <= 0) // "max", "-1", or the file does not exist
        return std::nullopt;
    const double whole = std::strtod(period.c_str(), nullptr);
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

// Limits apply from every ancestor, so the loop walks up to the root of the hierarchy.
std::optional<double> smallestQuota(const fs::path& mount, fs::path group, bool second)
{
    std::optional<double> smallest;
    for (;; group = group.parent_path()) {
        const fs::path folder = mount / group.relative_path();
        std::string quota, period;
        if (second)
            std::istringstream(wholeFile(folder / "cpu.max")) >> quota >> period;
        else {
            quota = wholeFile(folder / "cpu.cfs_quota_us");
            period = wholeFile(folder / "cpu.cfs_period_us");
        }
        if (const auto share = quotaShare(quota, period); share && (!smallest || *share < *smallest))
            smallest = share;
        if (!group.has_relative_path())
            return smallest;
    }
}

} // namespace

int usableCores(const fs::path& root)
{
    int cores = profiler::os::allowedCores();
    const auto second = smallestQuota(root / "sys/fs/cgroup", groupOf(root, "0::"), true);
    const auto first = smallestQuota(root / "sys/fs/cgroup/cpu", groupOf(root, ":cpu"), false);
    for (const auto& quota : {second, first})
        if (quota)
            cores = std::min(cores, static_cast<int>(std::ceil(*quota)));
    return std::max(cores, 1);
}

std::int64_t residentBytes()
{
    return static_cast<std::int64_t>(profiler::os::residentMemory());
}

std::int64_t peakResidentBytes()
{
    return static_cast<std::int64_t>(profiler::os::peakResidentMemory());
}

namespace {

/// A function of a library that is already loaded; null otherwise.
template <class Function>
Function* loaded(const char* library, const char* name)
{
    return Library::loaded(library).function<Function>(name);
}

std::string versionText(std::int64_t major, std::int64_t minor, std::int64_t patch)
{
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

} // namespace

std::string cudnnVersionText(std::int64_t number)
{
    constexpr std::int64_t kSince9 = 90'000;
    const std::int64_t major = number >= kSince9 ? 10'000 : 1'000;
    return versionText(number / major, number % major / 100, number % 100);
}

std::string ncclVersionText(std::int64_t number)
{
    constexpr std::int64_t kSince29 = 10'000;
    const std::int64_t major = number >= kSince29 ? 10'000 : 1'000;
    return versionText(number / major, number % major / 100, number % 100);
}

std::string cudaVersionText(std::int64_t number)
{
    return std::to_string(number / 1000) + '.' + std::to_string(number % 1000 / 10);
}

std::map<std::string, std::string> loadedLibraryVersions()
{
    std::map<std::string, std::string> versions;
    for (const char* library : {"libcudnn.so.9", "libcudnn.so.8"})
        if (auto* const version = loaded<std::size_t()>(library, "cudnnGetVersion"))
            versions.emplace("cudnn", cudnnVersionText(static_cast<std::int64_t>(version())));
    int number = 0;
    // Both return 0 on success.
    if (auto* const version = loaded<int(int*)>("libnccl.so.2", "ncclGetVersion"); version && version(&number) == 0)
        versions.emplace("nccl", ncclVersionText(number));
    for (const char* library : {"libcudart.so.13", "libcudart.so.12"})
        if (auto* const version = loaded<int(int*)>(library, "cudaRuntimeGetVersion"); version && version(&number) == 0)
            versions.emplace("cuda_runtime", cudaVersionText(number));
    return versions;
}

namespace {

// The entry points of the driver API used here, as cuda.h declares them.
struct Uuid {
    std::array<unsigned char, 16> bytes{};
};
using Init = int(unsigned);
using GetInteger = int(int*);
using GetDevice = int(int*, int);
using GetName = int(char*, int, int);
using GetUuid = int(Uuid*, int);
using GetAttribute = int(int*, int, int);
constexpr int kNoDevice = 100, kSystemNotReady = 802, kMismatch = 803;
constexpr int kMajor = 75, kMinor = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_…
constexpr int kOldestCuda = 13000;      // the CUDA version that this LibTorch is built for
constexpr int kOldestDriver = 580;      // the first driver with that version
constexpr int kOldestArchitecture = 75; // compute capability × 10

GpuState unusable(Message reason)
{
    return {false, std::move(reason), {}, {}, 0};
}

Message initFailure(int status)
{
    switch (status) {
    case kNoDevice:
        return message<"gpu.none", "the NVIDIA driver finds no GPU (check whether CUDA_VISIBLE_DEVICES is empty)">();
    case kSystemNotReady:
        return message<"gpu.not_ready", "the GPUs are not ready: start the NVIDIA Fabric Manager">();
    case kMismatch:
        return message<"gpu.driver_mismatch", "the library and the kernel module of the NVIDIA driver have different "
                                              "versions: restart the machine">();
    default:
        return message<"gpu.driver_failed", "the NVIDIA driver cannot be initialized (CUDA error {status})">(
            {{"status", status}});
    }
}

// "13.0"
std::string cudaText(int version)
{
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string uuidText(const Uuid& uuid)
{
    std::string text = "GPU-";
    for (std::size_t i = 0; i < uuid.bytes.size(); ++i)
        text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid.bytes[i]);
    return text;
}

GpuState askFirstDevice(const Library& library, int count)
{
    auto* const getDevice = library.function<GetDevice>("cuDeviceGet");
    auto* const getName = library.function<GetName>("cuDeviceGetName");
    auto* const getUuid = library.function<GetUuid>("cuDeviceGetUuid");
    auto* const getAttribute = library.function<GetAttribute>("cuDeviceGetAttribute");
    int device = 0, major = 0, minor = 0;
    std::array<char, 256> name{};
    Uuid uuid;
    if (!getDevice || !getName || !getUuid || !getAttribute || getDevice(&device, 0) != 0 ||
        getName(name.data(), static_cast<int>(name.size()), device) != 0 || getUuid(&uuid, device) != 0 ||
        getAttribute(&major, kMajor, device) != 0 || getAttribute(&minor, kMinor, device) != 0)
        return unusable(message<"gpu.unknown", "the NVIDIA driver cannot describe its first GPU">());
    if (major * 10 + minor < kOldestArchitecture)
        return unusable(message<"gpu.too_old", "{gpu} is too old: its compute capability is {capability}, but at least "
                                               "{needed} is required">(
            {{"gpu", name.data()},
             {"capability", fmt::format("{}.{}", major, minor)},
             {"needed", fmt::format("{}.{}", kOldestArchitecture / 10, kOldestArchitecture % 10)}}));
    return {true, {}, name.data(), uuidText(uuid), count};
}

} // namespace

GpuState askGpuDriver()
{
    const Library library = Library::open("libcuda.so.1", Library::Binding::Now);
    if (!library)
        return unusable(
            message<"gpu.no_driver", "no NVIDIA driver is installed (libcuda.so.1)">({{"why", Library::lastError()}}));
    auto* const init = library.function<Init>("cuInit");
    auto* const version = library.function<GetInteger>("cuDriverGetVersion");
    auto* const count = library.function<GetInteger>("cuDeviceGetCount");
    if (!init || !version || !count)
        return unusable(message<"gpu.not_a_driver", "libcuda.so.1 is not the NVIDIA driver's library">());
    int number = 0;
    if (version(&number) == 0 && number < kOldestCuda)
        return unusable(message<"gpu.driver_too_old", "the NVIDIA driver is too old: it supports CUDA {cuda}, but CUDA "
                                                      "{needed} is required (driver {driver} or later)">(
            {{"cuda", cudaText(number)}, {"needed", cudaText(kOldestCuda)}, {"driver", kOldestDriver}}));
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
    return profiler::fail<"device.few_gpus", "{asked} with parallel.kind = {kind} needs {needed} GPUs, one per {each}, "
                                             "but this process sees {count}">(
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
