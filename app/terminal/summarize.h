#pragma once

#include "app/terminal/commands.h"
#include "profiler/analysis/detailed_analysis.h"
#include "profiler/analysis/device/activity_scan.h"
#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/facts.h"
#include "profiler/analysis/job/scaling.h"
#include "profiler/analysis/memory/memory_over_time.h"
#include "profiler/analysis/steps/breakdown.h"
#include "profiler/analysis/steps/ranks.h"
#include "profiler/job/open_job.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The contents of `summarize`, for one trace and for the ranks of a job, and their output as text and JSON.
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

/// Opens the ranks of a job and shows progress.
profiler::Result<profiler::job::Job> openJob(const std::vector<std::filesystem::path>& traces, const StepChoice& steps,
                                             const std::function<void(const profiler::job::LoadedRank&)>& visit = {});

/// A job with the trace of one rank without its slices: metadata, versions and devices.
struct OpenedJob {
    profiler::job::Job job;
    std::shared_ptr<const profiler::Trace> frame;
};
/// openJob() for commands that compare jobs.
profiler::Result<OpenedJob> openJobWithFrame(const std::vector<std::filesystem::path>& traces, const StepChoice& steps);

/// The contents of `summarize` for a job.
struct JobSummary {
    profiler::job::Job job;
    Summary all;                                  ///< sums over ranks; the steps are those of the slowest rank
    std::shared_ptr<const profiler::Trace> frame; ///< versions and devices of one rank, without its slices
    std::uint64_t dropped = 0, unmatched = 0;
    std::vector<profiler::Message> losses; ///< notes of the traces, each once
};

/// The fields of `summarize --json`, with `ranks` and `job`.
nlohmann::ordered_json toJson(const JobSummary& summary);
std::string toText(const JobSummary& summary);

/// A part of the step as a row of a table: "exposed transfer".
std::string jobTimePartText(profiler::analysis::JobTimePart part);

} // namespace app::terminal
