#pragma once

#include "profiler/model/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The part of a job that is recorded: the level, the steps, the ranks, and the number of bytes; and the rank of a
/// process. `stepscope-cli record` checks the texts of its options, and the injection library reads the same texts from
/// the environment.
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

/// Numbers from `first` to `last`, both included.
struct NumberRange {
    std::int64_t first = 0, last = 0;
    [[nodiscard]] bool contains(std::int64_t number) const { return first <= number && number <= last; }
    friend bool operator==(const NumberRange&, const NumberRange&) = default;
};

/// "10-29", or "10" for a single step.
Result<NumberRange> stepRangeOf(std::string_view text);
/// "0,7,64-71": sorted; ranges that touch or overlap become one.
Result<std::vector<NumberRange>> rankListOf(std::string_view text);
/// The list as rankListOf() reads it.
std::string rankListText(const std::vector<NumberRange>& ranks);
/// "500MB", "2GB", "64MiB", "1.5GB" or a number of bytes; decimal units are powers of 1,000. At least 1 MB, because
/// less holds no step.
Result<std::uint64_t> byteCountOf(std::string_view text);

struct RecordingLimits {
    std::optional<NumberRange> steps; ///< no value: all
    std::vector<NumberRange> ranks;   ///< empty: all
    std::uint64_t maxBytes = 0;       ///< of a rank; 0: no limit
};
/// Whether the rank is one of the list, or the list is empty.
bool containsRank(const std::vector<NumberRange>& ranks, std::int64_t rank);

/// Keys of a process's metadata that name its rank. They describe the process, so a trace that several processes are
/// merged into does not have them.
namespace rank_key {
inline constexpr const char* kPrefix = "process.";
inline constexpr const char* kRank = "process.rank";
inline constexpr const char* kWorldSize = "process.world_size";
inline constexpr const char* kHost = "process.host";
inline constexpr const char* kJob = "process.job"; ///< id of the launch; empty if the launcher has none
} // namespace rank_key

/// The rank of this process as torchrun, MPI or Slurm set it in the environment, as metadata; empty if the process is
/// not one of several ranks. Processes that a rank starts, such as loader workers, have the same rank.
std::vector<std::pair<std::string, std::string>> rankMetadata();

} // namespace profiler::capture
