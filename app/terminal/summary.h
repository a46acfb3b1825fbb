#pragma once

#include "profiler/analysis/detailed_analysis.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/device/transfers.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/memory/memory_holders.h"
#include "profiler/analysis/memory/memory_over_time.h"
#include "profiler/analysis/steps/between_steps.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/ranks.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace app::terminal {

/// The contents of `summarize`.
struct Summary {
    struct Counts {
        std::int64_t events = 0; ///< entries in the file: slices and everything else
        std::int64_t kernel = 0, memcpy = 0, memset = 0, runtime = 0, cpuOp = 0, nvtx = 0;
    };
    Counts counts;
    double kernelUs = 0;
    std::int64_t shortKernels = 0; ///< shorter than 10 µs
    std::int64_t dataWaits = 0;    ///< waits of the training threads for their loader
    double dataWaitUs = 0;
    std::optional<int> workers; ///< number of loader workers; empty: the trace does not show it
    std::vector<profiler::analysis::Transfer> transfers;
    std::vector<profiler::analysis::DeviceUse> devices;
    std::vector<profiler::analysis::Step> steps;
    profiler::analysis::StepStatistics statistics;
    profiler::analysis::BetweenSteps between;
    /// One rank of several in the trace.
    struct RankSummary {
        profiler::analysis::Rank rank;
        profiler::analysis::StepStatistics statistics;
        std::vector<profiler::analysis::DeviceUse> devices;
        profiler::analysis::Breakdown breakdown; ///< breakdown of its steps, over its own devices
        profiler::analysis::Communication communication;
    };
    std::vector<RankSummary> ranks;         ///< by number; empty: the trace contains a single rank
    std::optional<std::size_t> slowestRank; ///< index of the rank whose steps are `steps` and whose loader is `input`
    profiler::analysis::Breakdown breakdown;
    profiler::analysis::InputWait input;
    profiler::analysis::Communication communication;
    profiler::analysis::SyncUse sync;
    std::vector<profiler::analysis::IdleCause> idle;
    std::vector<profiler::analysis::KernelTotal> topKernels;
    std::vector<profiler::analysis::MemoryMoment> memory; ///< as stored in the trace
    std::vector<profiler::analysis::DeviceMemory> memoryUse;
    /// Only if requested, because it takes longer than everything else.
    std::optional<profiler::analysis::DetailedAnalysis> detailed;
};
/// Without the detailed analysis.
/// @param findSteps called once, on another thread
Summary summaryOf(const profiler::Trace& trace,
                  const std::function<std::vector<profiler::analysis::Step>()>& findSteps);

/// The same for a trace that contains one rank, with a scan and steps that are known.
Summary rankSummaryOf(const profiler::Trace& trace, const profiler::analysis::ActivityScan& scan,
                      std::vector<profiler::analysis::Step> steps);
/// Adds the figures of another rank: counts, times and rows. The steps, the loader's stages and the memory are those of
/// the rank that was first.
void addTo(Summary& sum, const Summary& more);

/// Times of steps as JSON.
nlohmann::ordered_json stepTimesJson(const profiler::analysis::StepStatistics& statistics,
                                     const std::vector<profiler::analysis::Step>& steps);
/// The fields of `summarize --json`.
nlohmann::ordered_json toJson(const profiler::Trace& trace, const Summary& summary);
/// The same as text.
std::string toText(const profiler::Trace& trace, const Summary& summary);

} // namespace app::terminal
