#pragma once

#include "advisor/experiment/difference.h"
#include "profiler/analysis/job/scaling.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace advisor {

/// One of two jobs to compare.
struct ComparedJob {
    profiler::analysis::JobFacts facts;
    std::int64_t worldSize = 0;
    const profiler::Trace& frame; ///< the trace of any rank, for its metadata; its slices are not used
};

/// The differences between two jobs. A step of a job lasts as long as that of its slowest rank.
struct JobDifference {
    /// Verdict, statistic, reasons and notes. Kernels, operators and the other tables of traces are empty.
    Difference steps;
    std::int64_t worldSizeA = 0, worldSizeB = 0;
    Difference::Figures stepUs;     ///< the longest mean step of a rank
    Difference::Figures efficiency; ///< JobAnalysis::efficiency; the ratio is not a speed
    Difference::Figures overlap;
    profiler::analysis::JobTime timeA, timeB; ///< the mean step of a rank by what it is spent on

    struct Group {
        profiler::analysis::GroupRole role{};
        Difference::Figures exposedUs, waitUs, transferUs; ///< mean per rank and step
    };
    std::vector<Group> groups; ///< largest change of exposed time first

    /// A rank that delays the others in at least one of the jobs.
    struct Straggler {
        std::int64_t rank = 0;
        const profiler::analysis::Straggler* a = nullptr; ///< of the job's analysis; null: not a straggler
        const profiler::analysis::Straggler* b = nullptr;
    };
    std::vector<Straggler> stragglers; ///< by rank

    struct Rank {
        std::int64_t rank = 0;
        std::optional<Difference::Figures> stepUs, exposedUs, waitUs, lateUs; ///< no value: recorded in one job only
    };
    std::vector<Rank> ranks; ///< by rank
};

/// Jobs of different sizes are comparable, with a note. The result refers to the analyses of both jobs.
JobDifference jobDifference(const ComparedJob& a, const ComparedJob& b);

} // namespace advisor
