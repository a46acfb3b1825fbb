#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace profiler::capture {

/// How much is recorded; each level includes the ones before it.
enum class CaptureLevel : std::uint8_t { Always, Standard, Full };

/// What a level records. The single definition for CUPTI, the op hook, the allocator's events, the knob and the command
/// line.
struct LevelContents {
    CaptureLevel level;
    std::string_view name; ///< "always"
    std::string_view records;
    bool calls;  ///< runtime calls, synchronization, CUDA events; without them, GPU work cannot be linked to its launch
    bool ops;    ///< LibTorch operators
    bool shapes; ///< sizes and types of the operators' inputs
    bool memory; ///< each allocation, on the CPU and on the GPU
};

inline constexpr std::array kCaptureLevels = {
    LevelContents{CaptureLevel::Always, "always", "phases, loader stages, kernels, copies and memsets", false, false,
                  false, false},
    LevelContents{CaptureLevel::Standard, "standard",
                  "and runtime calls linked to the work that they launch, GPU synchronization, operators", true, true,
                  false, false},
    LevelContents{CaptureLevel::Full, "full", "and driver calls, input shapes and types of operators, allocations",
                  true, true, true, true},
};

constexpr const LevelContents& contentsOf(CaptureLevel level)
{
    return kCaptureLevels[static_cast<std::size_t>(level)];
}

constexpr std::optional<CaptureLevel> captureLevelFromName(std::string_view name)
{
    for (const LevelContents& contents : kCaptureLevels)
        if (contents.name == name)
            return contents.level;
    return std::nullopt;
}

} // namespace profiler::capture
