#pragma once

#include "profiler/analysis/device_facts.h"
#include "profiler/analysis/input_wait.h"
#include "profiler/analysis/op_costs.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace profiler::analysis {

/// The rank that was analysed, of a trace that holds several (steps/ranks.h).
struct AnalysedRank {
    std::shared_ptr<const Trace> trace; ///< what it did, with the ids of the whole trace
    std::int64_t number = 0;
    std::string name;           ///< of its process
    std::size_t of = 0;         ///< ranks in the trace
    bool sharesDevices = false; ///< Rank::sharesDevices

    /// The steps of each rank of the trace, by number.
    struct Steps {
        std::int64_t number = 0;
        std::string name;        ///< of the process
        std::int64_t count = 0;  ///< 0: it marks none
        double steadyMeanUs = 0; ///< 0 without a steady step
    };
    std::vector<Steps> all = {};
};

/// The analyses of one trace that rules and views share, computed once.
struct Facts {
    std::vector<Step> steps;
    StepStatistics statistics;
    InputWait input;
    OpCosts ops;
    DeviceFacts device;
    std::optional<AnalysedRank> rank; ///< none: the whole trace was analysed
};

/// With the steps that detectSteps() finds.
Facts analyse(const Trace& trace);
/// With these steps, which may be none. Of a trace with several ranks, judgedRank() alone, with its own steps.
/// @param stop  once requested, the analyses that have not begun are left out: the result is to be discarded
Facts analyse(const Trace& trace, std::vector<Step> steps, const std::stop_token& stop = {});

} // namespace profiler::analysis
