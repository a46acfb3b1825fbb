#pragma once

#include "app/terminal/commands.h"
#include "app/terminal/summary.h"
#include "profiler/job/open_job.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace app::terminal {

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

/// `summarize` for the ranks of a job.
int summarizeJob(const SummarizeOptions& options, const Streams& streams);

} // namespace app::terminal
