#include "profiler/model/activity.h"

#include <array>

namespace profiler {

namespace {
constexpr std::array<std::string_view, kActivityKinds> kNames = {
    "other",
    "step",
    "phase",
    "loader_stage",
    "loader_wait",
    "cpu_op",
    "user_annotation",
    "cuda_runtime",
    "cuda_driver",
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "gpu_user_annotation",
    "cuda_sync",
    "overhead",
    "nvtx",
};
constexpr std::array<std::string_view, 6> kCopies = {"unknown", "HtoD", "DtoH", "DtoD", "PtoP", "HtoH"};
constexpr std::array<std::string_view, 6> kMemories = {"unknown", "pageable", "pinned", "device", "array", "managed"};

template <std::size_t N>
std::string_view nameAt(const std::array<std::string_view, N>& names, unsigned index)
{
    return index < N ? names[index] : std::string_view("unknown");
}
} // namespace

std::string_view activityName(ActivityKind kind)
{
    return nameAt(kNames, static_cast<unsigned>(kind));
}

std::optional<ActivityKind> activityFromName(std::string_view name)
{
    for (int i = 0; i < kActivityKinds; ++i)
        if (kNames[static_cast<std::size_t>(i)] == name)
            return static_cast<ActivityKind>(i);
    return std::nullopt;
}

std::string_view copyKindName(CopyKind kind)
{
    return nameAt(kCopies, static_cast<unsigned>(kind));
}
std::string_view memoryKindName(MemoryKind kind)
{
    return nameAt(kMemories, static_cast<unsigned>(kind));
}

} // namespace profiler
