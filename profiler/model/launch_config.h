#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace profiler {

/// How a kernel was launched. A trace stores each distinct configuration once; kernels refer to it by
/// SliceArgs::launch.
struct LaunchConfig {
    std::array<std::uint32_t, 3> grid{};                ///< x, y, z in blocks; 0, 0, 0: not recorded
    std::array<std::uint32_t, 3> block{};               ///< x, y, z in threads; 0, 0, 0: not recorded
    std::optional<std::uint32_t> registers{};           ///< per thread
    std::optional<std::uint32_t> sharedMemory{};        ///< bytes per block, static and dynamic
    std::optional<std::uint32_t> dynamicSharedMemory{}; ///< the dynamic part; some sources only have the sum
    std::optional<std::uint32_t> localMemory{};         ///< bytes per thread

    /// Number of blocks; 0 if the grid was not recorded.
    [[nodiscard]] std::uint64_t blocks() const { return product(grid); }
    /// Number of threads per block; 0 if the block was not recorded.
    [[nodiscard]] std::uint64_t threads() const { return product(block); }

    friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;

private:
    /// The largest number if it overflows, which only sizes from a damaged file do.
    static std::uint64_t product(const std::array<std::uint32_t, 3>& sizes)
    {
        const std::uint64_t plane = std::uint64_t{sizes[0]} * sizes[1];
        constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
        return sizes[2] != 0 && plane > kMost / sizes[2] ? kMost : plane * sizes[2];
    }
};

} // namespace profiler
