#pragma once

#include "profiler/analysis/breakdown.h"
#include "profiler/analysis/detailed_analysis.h"
#include "profiler/analysis/device_use.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/memory_holders.h"
#include "profiler/analysis/steps/ranks.h"
#include "profiler/analysis/transfers.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace advisor::cli {

/// What `summarize` says of a trace.
struct Summary {
    struct Counts {
        std::int64_t events = 0; ///< as the file counts them: its slices and all else that it lists
        std::int64_t kernel = 0, memcpy = 0, memset = 0, runtime = 0, cpuOp = 0, nvtx = 0;
    };
    Counts counts;
    double kernelUs = 0;
    std::int64_t shortKernels = 0; ///< under 10 µs
    std::int64_t dataWaits = 0;    ///< of the training's threads for their loader
    double dataWaitUs = 0;
    std::optional<int> workers; ///< of the loader; empty: the trace does not tell
    std::vector<profiler::analysis::Transfer> transfers;
    std::vector<profiler::analysis::DeviceUse> devices;
    std::vector<profiler::analysis::Step> steps;
    profiler::analysis::StepStatistics statistics;
    /// One rank of several in the trace.
    struct RankSummary {
        profiler::analysis::Rank rank;
        profiler::analysis::StepStatistics statistics;
        std::vector<profiler::analysis::DeviceUse> devices;
        profiler::analysis::Breakdown breakdown; ///< of its steps, over its own devices
        profiler::analysis::Communication communication;
    };
    std::vector<RankSummary> ranks;         ///< by number; empty: the trace is that of one
    std::optional<std::size_t> slowestRank; ///< index of that whose steps `steps` are; its loader is `input`
    profiler::analysis::Breakdown breakdown;
    profiler::analysis::InputWait input;
    profiler::analysis::Communication communication;
    profiler::analysis::SyncUse sync;
    std::vector<profiler::analysis::IdleCause> idle;
    std::vector<profiler::analysis::KernelTotal> topKernels;
    std::vector<profiler::analysis::MemoryMoment> memory;
    std::optional<profiler::analysis::DetailedAnalysis> look; ///< as it costs more than all the rest: where asked for
};
/// Without a closer look.
/// @param findSteps  asked once, on another thread
Summary summaryOf(const profiler::Trace& trace,
                  const std::function<std::vector<profiler::analysis::Step>()>& findSteps);

/// The fields of `summarize --json`.
nlohmann::ordered_json toJson(const profiler::Trace& trace, const Summary& summary);
/// The same for a reader.
std::string toText(const profiler::Trace& trace, const Summary& summary);

} // namespace advisor::cli
