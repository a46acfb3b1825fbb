#pragma once

#include "profiler/analysis/job/job_analysis.h"
#include "profiler/analysis/job/rank_digest.h"

#include <span>

namespace profiler::analysis {

/// All ranks of a job, for rules that otherwise see one of them.
struct JobFacts {
    std::span<const RankDigest> ranks; ///< parallel to `analysis.ranks`
    const JobAnalysis& analysis;
};

} // namespace profiler::analysis
