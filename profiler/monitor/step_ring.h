#pragma once

#include "profiler/model/clock.h"
#include "profiler/model/result.h"
#include "profiler/os/file_lock.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reads the files of `record --level steps`: the steps and minutes of one rank
/// (resources/formats/stepscope_steps.md). They are written by resources/python/stepscope/step_ring.py, and may be read
/// at any time, also after a kill.
namespace profiler::monitor {

/// Parts of a step, in the order of their columns.
enum class StepPart : std::uint8_t { DataWait, Forward, Loss, Backward, Optimizer, Other };
inline constexpr std::array<std::string_view, 6> kStepParts = {"data_wait", "forward",   "loss",
                                                               "backward",  "optimizer", "other"};

struct RingStep {
    std::int64_t index = 0;
    Nanoseconds end{}; ///< since 1970
    Nanoseconds duration{};
    std::array<Nanoseconds, kStepParts.size()> parts{};
    Nanoseconds outside{};                ///< between the previous step and this one
    std::optional<Nanoseconds> arrival{}; ///< start of the backward pass, relative to the step's start
    std::int64_t samples = 0;             ///< 0: unknown
    bool captured = false;                ///< recorded in full: its time is not representative, and it has no parts
};

/// The steps of a minute.
struct RingMinute {
    Nanoseconds begin{}; ///< since 1970
    std::int64_t steps = 0, captured = 0;
    std::int64_t samples = 0;
    double meanUs = 0, p50Us = 0, p90Us = 0, p99Us = 0, maxUs = 0; ///< of steps that are not captured
    std::array<double, kStepParts.size()> partUs{};
    double outsideUs = 0;
};

/// A process that records, or has recorded, into a file.
struct RingOwner {
    std::int64_t rank = 0, worldSize = 1, pid = 0;
    std::string host, command, job;
    Nanoseconds started{}; ///< since 1970
};

struct StepRing {
    RingOwner owner;
    bool ended = false;                              ///< the program has ended by itself
    os::LockHolder holder = os::LockHolder::Unknown; ///< of the file's lock, which the program holds while it lives
    std::uint64_t steps = 0;                         ///< written so far, including those that were overwritten
    std::uint64_t minutes = 0;                       ///< the same
    std::vector<RingStep> newestSteps;               ///< oldest first
    std::vector<RingMinute> newestMinutes;           ///< oldest first
};

/// True if the file begins like such a file.
bool isStepRing(const std::filesystem::path& path);

/// @param mostSteps, mostMinutes  how many of the newest ones to read
/// @return an error if the file is missing, is not such a file, or its header is damaged. Damaged records are left out
Result<StepRing> readStepRing(const std::filesystem::path& path, std::size_t mostSteps, std::size_t mostMinutes);

} // namespace profiler::monitor
