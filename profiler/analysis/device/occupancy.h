#pragma once

#include "profiler/model/trace.h"

#include <cstdint>
#include <optional>

namespace profiler::analysis {

/// What a multiprocessor runs out of first when it takes more blocks of a kernel. Several may run out together.
namespace occupancy_limit {
inline constexpr std::uint8_t kWarps = 1, kRegisters = 2, kSharedMemory = 4, kBlocks = 8;
} // namespace occupancy_limit

/// The theoretical occupancy of a kernel: how many of its warps a multiprocessor (SM) can hold at one time, relative to
/// the maximum for any kernel. The achieved occupancy of a launch is lower if its grid does not fill the device or its
/// blocks differ in duration.
struct Occupancy {
    int blocks = 0;               ///< per multiprocessor
    int warps = 0, mostWarps = 0; ///< per multiprocessor
    std::uint8_t limits = 0;      ///< bits of occupancy_limit
    /// How often the grid fills all multiprocessors; none if their number or the grid is unknown.
    std::optional<double> waves{};

    /// In (0, 1].
    [[nodiscard]] double share() const { return static_cast<double>(warps) / mostWarps; }
};

/// Source of the formula: NVIDIA's cuda_occupancy.h (CUDA 13.0), which the occupancy calculator of Nsight Compute also
/// uses. Registers are allocated in units of 256 per warp, each warp in one of four partitions of the registers. Shared
/// memory is allocated in units of 128 bytes (256 before compute capability 8.0), after 1 KiB that the driver reserves
/// for each block from 8.0 on. The largest shared memory configuration is assumed, as that header does by default.
/// Clusters, barriers and partitions of a GPU (MIG) are not considered.
///
/// Limits that the trace does not record are those of the compute capability: "Technical Specifications per Compute
/// Capability" in the CUDA C++ Programming Guide, for 7.0 to 12.1.
/// @return none if a figure that the formula needs is unknown, or if the figures contradict the fact that the kernel
/// ran
std::optional<Occupancy> occupancy(const LaunchConfig& launch, const Device& device);

/// The same for a kernel of a trace, on the device of its track.
std::optional<Occupancy> occupancyOf(const Trace& trace, const Slice& kernel);

} // namespace profiler::analysis
