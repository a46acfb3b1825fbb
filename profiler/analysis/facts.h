#pragma once

#include "profiler/analysis/device_facts.h"
#include "profiler/analysis/input_wait.h"
#include "profiler/analysis/op_costs.h"
#include "profiler/analysis/steps.h"
#include "profiler/model/trace.h"

#include <stop_token>
#include <vector>

namespace profiler::analysis {

/// The analyses of one trace that rules and views share, computed once.
struct Facts {
    std::vector<Step> steps;
    StepStatistics statistics;
    InputWait input;
    OpCosts ops;
    DeviceFacts device;
};

Facts analyse(const Trace& trace);
/// With these steps, which may be none.
/// @param stop  once requested, the analyses that have not begun are left out: the result is to be discarded
Facts analyse(const Trace& trace, std::vector<Step> steps, const std::stop_token& stop = {});

} // namespace profiler::analysis
