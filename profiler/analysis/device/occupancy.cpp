#include "profiler/analysis/device/occupancy.h"

#include <algorithm>
#include <array>
#include <limits>

namespace profiler::analysis {

namespace {

constexpr int kWarpThreads = 32, kPartitions = 4, kRegisterUnit = 256, kMostThreadsPerBlock = 1024;
constexpr int kRegistersPerMultiprocessor = 64 << 10; // of every compute capability below
constexpr std::int64_t kReservedSharedMemory = 1 << 10;

struct Capability {
    int major, minor, threads, blocks, sharedKiB;
};
// Resident threads and blocks, and shared memory, per multiprocessor: CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"; 10.1 is the former number of 11.0.
constexpr std::array kCapabilities = {
    Capability{7, 0, 2048, 32, 96},   Capability{7, 2, 2048, 32, 96},   Capability{7, 5, 1024, 16, 64},
    Capability{8, 0, 2048, 32, 164},  Capability{8, 6, 1536, 16, 100},  Capability{8, 7, 1536, 16, 164},
    Capability{8, 9, 1536, 24, 100},  Capability{9, 0, 2048, 32, 228},  Capability{10, 0, 2048, 32, 228},
    Capability{10, 1, 1536, 24, 228}, Capability{10, 3, 2048, 32, 228}, Capability{11, 0, 1536, 24, 228},
    Capability{12, 0, 1536, 24, 100}, Capability{12, 1, 1536, 24, 100},
};

/// The recorded limits, completed by those of the compute capability; none if it is not in the table.
std::optional<MultiprocessorLimits> limitsOf(const Device& device)
{
    const auto* const found =
        std::find_if(kCapabilities.begin(), kCapabilities.end(), [&](const Capability& capability) {
            return capability.major == device.computeMajor && capability.minor == device.computeMinor;
        });
    if (found == kCapabilities.end())
        return std::nullopt;
    const auto either = [](int recorded, int known) { return recorded > 0 ? recorded : known; };
    return MultiprocessorLimits{either(device.limits.threads, found->threads),
                                either(device.limits.blocks, found->blocks),
                                either(device.limits.registers, kRegistersPerMultiprocessor),
                                either(device.limits.sharedMemory, found->sharedKiB << 10)};
}

template <class Number>
constexpr Number roundedUp(Number value, Number unit)
{
    return (value + unit - 1) / unit * unit;
}

} // namespace

std::optional<Occupancy> occupancy(const LaunchConfig& launch, const Device& device)
{
    const auto limits = limitsOf(device);
    const std::uint64_t threads = launch.threads();
    if (!limits || threads == 0 || threads > kMostThreadsPerBlock || !launch.registers || *launch.registers > 255 ||
        !launch.sharedMemory)
        return std::nullopt;
    const int warps = (static_cast<int>(threads) + kWarpThreads - 1) / kWarpThreads;
    const int mostWarps = limits->threads / kWarpThreads;
    const int byWarps = mostWarps / warps;

    int byRegisters = std::numeric_limits<int>::max();
    if (const int perWarp = roundedUp(static_cast<int>(*launch.registers) * kWarpThreads, kRegisterUnit); perWarp > 0)
        byRegisters = limits->registers / kPartitions / perWarp * kPartitions / warps;

    const bool reserves = device.computeMajor >= 8;
    const std::int64_t perBlock = roundedUp<std::int64_t>(
        std::int64_t{*launch.sharedMemory} + (reserves ? kReservedSharedMemory : 0), reserves ? 128 : 256);
    const int bySharedMemory =
        perBlock > 0 ? static_cast<int>(limits->sharedMemory / perBlock) : std::numeric_limits<int>::max();

    Occupancy result;
    result.blocks = std::min({byWarps, limits->blocks, byRegisters, bySharedMemory});
    if (result.blocks <= 0)
        return std::nullopt;
    using namespace occupancy_limit;
    const auto limit = [&](int blocks, std::uint8_t which) {
        return result.blocks == blocks ? which : std::uint8_t{0};
    };
    result.limits = static_cast<std::uint8_t>(limit(byWarps, kWarps) | limit(limits->blocks, kBlocks) |
                                              limit(byRegisters, kRegisters) | limit(bySharedMemory, kSharedMemory));
    result.warps = result.blocks * warps;
    result.mostWarps = mostWarps;
    if (device.multiprocessors > 0 && launch.blocks() > 0)
        result.waves = static_cast<double>(launch.blocks()) / result.blocks / device.multiprocessors;
    return result;
}

std::optional<Occupancy> occupancyOf(const Trace& trace, const Slice& kernel)
{
    if (kernel.args.launch.value == 0)
        return std::nullopt;
    const DeviceId id = kernel.args.device.value_or(trace.track(kernel.id.track).device);
    for (const Device& device : trace.devices())
        if (device.id == id)
            return occupancy(trace.launch(kernel.args.launch), device);
    return std::nullopt;
}

} // namespace profiler::analysis
