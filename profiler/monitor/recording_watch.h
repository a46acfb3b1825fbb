#pragma once

#include "profiler/model/clock.h"
#include "profiler/model/result.h"
#include "profiler/monitor/step_ring.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What the recordings in a folder do at this moment, by rank. For `stepscope-cli watch`.
namespace profiler::monitor {

enum class RankState : std::uint8_t {
    Alive,
    Ended,   ///< by itself
    Killed,  ///< it no longer lives, and has not written its end
    Unknown, ///< the file system does not support locks, so the state cannot be determined
};
/// "alive", "ended", "killed", "unknown".
std::string_view stateName(RankState state);

/// One rank. Times are over its recent steps: those of the last minute, or the last hundred if these are more.
struct RankStatus {
    std::int64_t rank = 0, worldSize = 1, pid = 0;
    std::string host{};
    std::filesystem::path file{};
    RankState state = RankState::Unknown;
    std::int64_t steps = 0;      ///< completed so far
    std::int64_t lastIndex = -1; ///< of the newest step; −1: none yet
    Nanoseconds lastEnd{};       ///< of the newest step, since 1970; 0: unknown
    std::size_t recent = 0;      ///< number of recent steps
    double lastUs = 0, p50Us = 0, p99Us = 0;
    std::array<double, kStepParts.size()> partUs{}; ///< means
    double outsideUs = 0;                           ///< mean time between two steps
    double stepsPerSecond = 0;                      ///< 0: unknown
    std::optional<double> samplesPerSecond{};
    /// How much later than the first rank it begins its backward pass, mean over the recent steps that all ranks have.
    /// Nothing for a single rank, or if no backward pass was recorded.
    std::optional<double> lateUs{};
};

/// A trace of a few steps of an always-on recording.
struct Capture {
    std::string name;       ///< of its folder
    std::size_t traces = 0; ///< that are complete
    std::uint64_t bytes = 0;
};

struct RecordingStatus {
    std::vector<RankStatus> ranks; ///< by rank, the newest recording of each
    std::vector<Capture> captures; ///< by name, which is by time
    bool isAlwaysOn = false;
};

/// Follows the recordings in a folder: always-on ones, running recordings of the other levels, and finished traces.
/// Not thread-safe.
class RecordingWatch {
public:
    /// @param place  a folder, or the trace that a running recording writes
    explicit RecordingWatch(std::filesystem::path place);
    ~RecordingWatch();

    /// Reads what is new since the last call.
    /// @return an error if the folder cannot be read. A recording without a step is not an error: it has no rank yet
    Result<RecordingStatus> look();

private:
    struct Follower;
    std::filesystem::path m_folder;
    std::string m_prefix; ///< of the names of the files that count; empty: all of them
    std::map<std::filesystem::path, std::unique_ptr<Follower>> m_followers;
};

} // namespace profiler::monitor
