#include "trainer/session/library_versions.h"

#include "profiler/os/libraries.h"

#include <cstddef>

namespace trainer {

namespace {

/// A function of a library that is already loaded; null otherwise.
template <class Function>
Function* loaded(const char* library, const char* name)
{
    return profiler::os::Library::loaded(library).function<Function>(name);
}

std::string text(std::int64_t major, std::int64_t minor, std::int64_t patch)
{
    return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
}

} // namespace

std::string cudnnVersionText(std::int64_t number)
{
    constexpr std::int64_t kSince9 = 90'000;
    const std::int64_t major = number >= kSince9 ? 10'000 : 1'000;
    return text(number / major, number % major / 100, number % 100);
}

std::string ncclVersionText(std::int64_t number)
{
    constexpr std::int64_t kSince29 = 10'000;
    const std::int64_t major = number >= kSince29 ? 10'000 : 1'000;
    return text(number / major, number % major / 100, number % 100);
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

} // namespace trainer
