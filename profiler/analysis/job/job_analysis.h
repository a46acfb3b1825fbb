#pragma once

#include "profiler/analysis/job/job_clock.h"
#include "profiler/analysis/job/rank_digest.h"
#include "profiler/model/message.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the ranks of a job show together: who waits for whom and why, and what communication costs.
namespace profiler::analysis {

enum class StragglerCause : std::uint8_t {
    Unknown,
    SlowCompute, ///< some kernels take longer, or there are more of them
    Throttling,  ///< all kernels take longer by about the same factor, or the device reports a lowered clock
    SlowHost,    ///< the device waits for the host; without device work: the processor is slower
    SlowLoader,
    GarbageCollection,
    SlowCopy, ///< copies between host and device
    SlowLink, ///< transfers of its groups take longer than those of others
};
/// "slow_compute", "throttling", "slow_host", "slow_loader", "garbage_collection", "slow_copy", "slow_link", "unknown".
std::string_view stragglerCauseName(StragglerCause cause);

/// A rank for which the others wait.
struct Straggler {
    std::size_t rank = 0; ///< index into the ranks
    StragglerCause cause = StragglerCause::Unknown;
    double lateUs = 0;                 ///< mean delay in an affected step
    std::vector<std::int64_t> steps{}; ///< numbers of the affected steps
    bool always = false;               ///< in most of the steps
    bool wholeHost = false;            ///< all ranks of its host, and no others, are late for the same cause
    Message reason{};
};

/// Figures of a rank; times are means per analysed step.
struct JobRank {
    double stepUs = 0;
    double exposedUs = 0; ///< communication while nothing is computed
    /// The waiting part of that time: time beyond the transfer of a collective, and point-to-point calls.
    double exposedWaitUs = 0;
    double waitUs = 0;     ///< waiting for other ranks in collectives: time beyond the shortest participation
    double transferUs = 0; ///< the shortest participation of any rank in the same collectives
    double lateUs = 0;     ///< arrival after the median of the other ranks; negative: earlier
    double bubbleUs = 0;   ///< see RankStep::bubble
    /// Its place in its pipeline, from 0; −1: it has no point-to-point calls, or their group is not recorded.
    std::int64_t stage = -1;
    // By analysed step; NaN where the rank did not record the step.
    std::vector<double> stepByStepUs, waitByStepUs, lateByStepUs, computeByStepUs;
};

enum class GroupRole : std::uint8_t { Data, Tensor, Pipeline, Expert, Unknown };
/// "data", "tensor", "pipeline", "expert", "unknown".
std::string_view groupRoleName(GroupRole role);

/// The communicators of one role.
struct GroupUse {
    GroupRole role = GroupRole::Unknown;
    std::int64_t groups = 0; ///< number of communicators
    std::int64_t size = 0;   ///< ranks of the largest one
    std::int64_t calls = 0;  ///< of all ranks, in the analysed steps
    double exposedUs = 0;    ///< mean per rank and step
    double waitUs = 0, transferUs = 0;
};

/// The links that a collective uses.
enum class LinkKind : std::uint8_t { Unknown, WithinHost, BetweenHosts };
/// "unknown", "within host", "between hosts".
std::string_view linkName(LinkKind link);

/// Collectives of one kind and size, in groups of one role.
struct CollectiveUse {
    CollectiveKind kind = CollectiveKind::Other;
    GroupRole role = GroupRole::Unknown;
    LinkKind link = LinkKind::Unknown;
    std::int64_t ranks = 0, bytes = 0, count = 0;
    double transferUs = 0, waitUs = 0; ///< transfer: median of a collective; wait: mean of a rank in it
    double algorithmGbPerS = 0, busGbPerS = 0, bestBusGbPerS = 0; ///< 10⁹ bytes per second; 0: size unknown
    double linkGbPerS = 0; ///< the best bus bandwidth of any collective of the job on such links
};

/// The all-reduces in groups of data parallelism, which exchange gradients. Figures per rank and step.
struct GradientExchange {
    double calls = 0;
    double us = 0, exposedUs = 0;
    double medianBytes = 0;               ///< of a call; 0: not recorded
    std::map<std::int64_t, double> sizes; ///< calls by payload
};

/// Pipeline parallelism, as point-to-point calls show it.
struct PipelineUse {
    std::int64_t stages = 0; ///< of the longest pipeline; 0: its groups are not recorded
    double bubble = 0;       ///< mean share of a step, over the ranks with point-to-point calls, [0, 1]
};

struct JobAnalysis {
    std::vector<std::int64_t> steps; ///< numbers of the analysed steps: steady ones that most ranks recorded
    std::vector<JobRank> ranks;      ///< parallel to the digests
    double stepUs = 0;               ///< the longest mean step of a rank
    /// Mean share of a step in which a rank does not wait for communication, [0, 1].
    double efficiency = 0;
    std::optional<std::size_t> slowest;     ///< index of the rank that delays the others most, or has the longest steps
    std::vector<Straggler> stragglers;      ///< latest first
    std::vector<GroupUse> groups;           ///< by exposed time
    std::vector<CollectiveUse> collectives; ///< by total time, at most 50
    std::optional<GradientExchange> gradients; ///< no value: there are no such calls
    std::optional<PipelineUse> pipeline;
    JobClock clock;
    std::int64_t matched = 0, alone = 0, mismatched = 0; ///< collectives and calls, see MatchedCollectives
    MatchedCollectives calls;                            ///< the collectives behind these figures, for stepWaits()
    double overlap = 0;                                  ///< share of communication that compute hides, [0, 1]
    double computeImbalance = 0;                         ///< largest compute time of a rank over the mean, − 1
    double exchangeImbalance = 0; ///< the same for the bytes of all-to-alls (tokens of experts); 0 without sizes
    std::vector<Message> notes;
};

/// @param ranks  sorted by rank; empty ones (no steps) do not occur, see rankDigest()
JobAnalysis analyseJob(std::span<const RankDigest> ranks);

/// All ranks of a job, for rules that otherwise see one of them.
struct JobFacts {
    std::span<const RankDigest> ranks; ///< parallel to `analysis.ranks`
    const JobAnalysis& analysis;
};

/// The steps that ranks have in common.
struct JobSteps {
    std::vector<std::int64_t> numbers;          ///< of the analysed steps, ascending
    std::vector<std::vector<std::int32_t>> own; ///< by rank and analysed step: index into its steps; −1: not recorded
    std::vector<std::vector<std::int32_t>> at;  ///< by rank and its step: analysed step; −1: not analysed

    [[nodiscard]] std::size_t count() const { return numbers.size(); }
};
/// Steady steps that the largest number of ranks recorded.
JobSteps jobSteps(std::span<const RankDigest> ranks);

/// Lateness of each rank in each analysed step, in µs: how long after the median of the other ranks it arrives at
/// collectives, in the group in which it is latest, limited to the time by which it delays them. NaN where it did not
/// record the step or nothing matches.
using Lateness = std::vector<std::vector<double>>;

/// The middle value of the finite ones; of an even number the lower one. NaN if there are none.
double middle(std::vector<double> values);

/// A rank whose transfers take longer than those of comparable groups.
struct SlowLink {
    std::size_t rank = 0;
    double excessUs = 0; ///< per step
    double ratio = 0;    ///< its transfers over those of the other groups
};

/// The ranks for which the others wait, with causes, latest first. A rank is late if its lateness exceeds both a share
/// of the step and the jitter of all ranks, in most steps or in single ones. Its cause is the part of its time that
/// exceeds the median of the other ranks by most. A rank that is late because it waits itself, in another group, is
/// not a straggler.
std::vector<Straggler> findStragglers(std::span<const RankDigest> ranks, const JobSteps& steps,
                                      const Lateness& lateness, const std::vector<SlowLink>& slowLinks);

} // namespace profiler::analysis
