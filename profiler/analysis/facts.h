#pragma once

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/loader/loader_work.h"
#include "profiler/analysis/operators/op_costs.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/steps.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// The analysed rank of a trace that contains several (steps/ranks.h).
struct AnalysedRank {
    std::shared_ptr<const Trace> trace; ///< the activity of this rank, with the ids of the whole trace
    std::int64_t number = 0;
    std::string name;           ///< name of its process
    std::size_t of = 0;         ///< number of ranks in the trace
    bool sharesDevices = false; ///< Rank::sharesDevices
    bool chosen = false;        ///< the caller chose it; otherwise it is representativeRank()

    /// The steps of each rank of the trace, by rank number.
    struct Steps {
        std::int64_t number = 0;
        std::string name;        ///< name of the process
        std::int64_t count = 0;  ///< 0: the rank marks no steps
        double steadyMeanUs = 0; ///< 0 if no step is steady
    };
    std::vector<Steps> all = {};
};

/// The analyses of a trace that rules and views share, computed once.
struct Facts {
    std::vector<Step> steps;
    StepStatistics statistics;
    BetweenSteps between;
    InputWait input;
    OpCosts ops;
    DeviceFacts device;
    std::optional<AnalysedRank> rank; ///< empty: the whole trace was analysed
};

/// Uses the steps found by detectSteps().
Facts analyse(const Trace& trace);
/// Uses these steps, which may be empty. For a trace with several ranks, analyses only one rank, with its own steps.
/// @param stop  after a stop request, remaining analyses are skipped and the result must be discarded
/// @param rank  number of the rank to analyse; empty, or no rank of the trace: representativeRank()
Facts analyse(const Trace& trace, std::vector<Step> steps, const std::stop_token& stop = {},
              std::optional<std::int64_t> rank = {});

} // namespace profiler::analysis
