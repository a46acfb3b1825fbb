#pragma once

#include "profiler/analysis/job/job_analysis.h"
#include "profiler/analysis/job/job_steps.h"

#include <span>
#include <vector>

namespace profiler::analysis {

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
