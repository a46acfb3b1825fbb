#pragma once

#include "profiler/analysis/job/job_analysis.h"
#include "profiler/model/result.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How the throughput of a training grows with the number of ranks, from jobs with 1, 2, 4 … ranks.
namespace profiler::analysis {

/// What the ranks of a job spend a step on. Exposed communication is divided into waiting for other ranks and transfer.
enum class JobTimePart : std::uint8_t {
    Compute,
    Transfer, ///< exposed
    Wait,     ///< exposed: for other ranks, see JobRank::exposedWaitUs
    Copy,
    GarbageCollection,
    DataWait,
    Host, ///< everything else
};
inline constexpr std::size_t kJobTimeParts = static_cast<std::size_t>(JobTimePart::Host) + 1;
/// "compute", "transfer", "wait", "copy", "garbage_collection", "data_wait", "host".
std::string_view jobTimePartName(JobTimePart part);

/// The mean step of a rank, over the analysed steps and all ranks. The parts add up to the step.
struct JobTime {
    double stepUs = 0;
    std::array<double, kJobTimeParts> partsUs{};

    [[nodiscard]] double part(JobTimePart which) const { return partsUs[static_cast<std::size_t>(which)]; }
};
JobTime jobTime(const JobFacts& job);

/// One job of a scaling curve.
struct ScalingRun {
    JobFacts facts;
    std::int64_t worldSize = 0;
    std::int64_t batch = 0; ///< samples per rank and step; 0: not recorded
    std::string source{};   ///< folder or file, for messages
};

struct ScalingPoint {
    std::size_t run = 0; ///< index into the runs
    std::int64_t ranks = 0;
    JobTime time;
    double stepsPerS = 0;
    double samplesPerS = 0; ///< of the whole job; 0: not recorded
    double speedup = 0;     ///< throughput over that of the smallest job
    double efficiency = 0;  ///< throughput per rank over that of the smallest job
    /// Time per step beyond that of the smallest job for as many samples per rank; negative: gained.
    double lostUs = 0;
    std::array<double, kJobTimeParts> lostPartsUs{}; ///< the same by part; adds up to `lostUs`
};

struct Scaling {
    std::vector<ScalingPoint> points; ///< by ranks; the first one is the reference
    /// All jobs record their batch size. Otherwise each rank is assumed to process as much as in the smallest job.
    bool batchKnown = false;
    std::vector<Message> notes;
};
/// Fails if there are fewer than two jobs, if all have the same number of ranks, or if one has no steps.
Result<Scaling> scalingOf(std::span<const ScalingRun> runs);

} // namespace profiler::analysis
