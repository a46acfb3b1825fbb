#pragma once

#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/job/collectives.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// One rank of a job, reduced to what the analyses of the whole job need. A job has up to thousands of ranks, whose
/// traces do not fit into memory at the same time.
namespace profiler::analysis {

/// What a rank does, exclusively: the first part that applies counts. With device work, the device comes first, and the
/// host's parts are only the times in which the device runs nothing.
enum class RankTimePart : std::uint8_t {
    Compute,           ///< kernels; without device work: operators
    Copy,              ///< copies and memsets of the device
    Communication,     ///< exposed: nothing of the above at the same time
    GarbageCollection, ///< of Python
    DataWait,          ///< waits for the loader
    Host,              ///< everything else: the host launches work too slowly, or runs code that nothing records
};
inline constexpr std::size_t kRankTimeParts = static_cast<std::size_t>(RankTimePart::Host) + 1;

struct RankStep {
    std::int64_t index = 0; ///< the number of its mark
    TimeRange range;        ///< by the rank's clock
    std::array<Nanoseconds, kRankTimeParts> parts{};
    /// Time in which a stage of a pipeline waits in point-to-point calls and has no work, between its first and its
    /// last micro-batch. 0 without such calls.
    Nanoseconds bubble{};
    bool steady = false;

    [[nodiscard]] Nanoseconds part(RankTimePart which) const { return parts[static_cast<std::size_t>(which)]; }
};

/// A kernel (without device work: an operator) with its time in each step.
struct WorkTotal {
    std::string name;
    std::vector<float> us;            ///< by step, in µs
    std::vector<std::uint32_t> count; ///< by step
};

struct RankDigest {
    std::int64_t rank = 0;
    std::int64_t worldSize = 0;  ///< 0: not recorded
    std::string host;            ///< empty: unknown
    std::string file;            ///< path
    std::string device;          ///< name of the device that it used first; empty: none, or unknown
    Nanoseconds toRealtime{};    ///< added to the rank's times: CLOCK_REALTIME, since 1970
    bool hasRealtime = false;    ///< the trace records what `toRealtime` is
    TimeRange range;             ///< of all slices, by the rank's clock
    std::vector<RankStep> steps; ///< without step marks: the whole trace as one step
    bool hasSteps = false;       ///< the trace has steps
    bool inferred = false;       ///< the steps were inferred, so that their numbers may differ between ranks
    bool usesDevice = false;     ///< kernels are recorded
    bool replicates = false;     ///< torch.nn.DataParallel drives several devices from this process
    RankCollectives communication;
    std::vector<WorkTotal> work; ///< the names with the most time, at most kMostNames
    double busy = 0;             ///< share of the device's span in which it ran anything, [0, 1]; CPU: of the steps
    double throttled = 0;        ///< share of the samples in which the device's clock was lowered, [0, 1]
    double clockMhz = 0;         ///< mean clock of the device; 0: not sampled
    std::uint64_t events = 0;

    static constexpr std::size_t kMostNames = 24;
};

/// Everything except the rank, its host and its file.
/// O(slices) time; reads the arguments of collectives from the file.
/// @param scan  of `trace`
RankDigest rankDigest(const Trace& trace, const ActivityScan& scan, const std::vector<Step>& steps);

/// A rank as its trace and its file name identify it.
struct RankIdentity {
    std::optional<std::int64_t> rank;
    bool fromName = false; ///< the rank comes from the name of the file, because the trace does not contain it
    std::int64_t worldSize = 0;
    std::string host;
    std::string job;    ///< id of the launch, if recorded: ranks of different jobs have different ones
    std::string chosen; ///< the ranks of the job that were chosen for recording: "0,7,64-71"; empty: all
};
/// The content first, the name second. Names: "rank3", "rank_3", "rank-3"; the host is in the names of PyTorch's
/// tensorboard_trace_handler, "HOST_PID.TIME.pt.trace.json".
RankIdentity identityOf(const Trace& trace, std::string_view fileName);

} // namespace profiler::analysis
