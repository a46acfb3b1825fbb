#pragma once

#include "profiler/analysis/job/job_analysis.h"
#include "profiler/analysis/job/rank_digest.h"
#include "profiler/job/job_files.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

/// Opens the traces of a job's ranks. Each trace is read, reduced to a RankDigest and dropped again, so that memory
/// depends on the number of ranks, steps and collectives instead of the size of the files.
namespace profiler::job {

/// A rank while its trace is in memory.
struct LoadedRank {
    std::size_t file = 0; ///< index into the job's files
    std::shared_ptr<const Trace> trace;
    const analysis::ActivityScan& scan;
    const std::vector<analysis::Step>& steps;
};

struct Job;

struct JobOptions {
    unsigned threads = 0;     ///< files that are read at a time; 0: one per core
    std::uint64_t memory = 0; ///< bytes that traces may take at a time; 0: a quarter of the machine's memory
    std::stop_token stop;     ///< a stop request ends with Error::Code::Cancelled
    /// Finds the steps of a trace; empty: detectSteps(). Called on several threads.
    std::function<Result<std::vector<analysis::Step>>(const Trace&, const std::filesystem::path&)> findSteps;
    /// Receives each trace before it is dropped. Called on several threads.
    std::function<void(const LoadedRank&)> visit;
    /// Receives the share of the files that has been read, [0, 1]. Called on several threads, one at a time.
    std::function<void(double)> progress;
    /// Receives the job of the files that have been read while others are still being read; its `missing` are not known
    /// yet. Called on several threads, one at a time.
    std::function<void(Job)> preview;
    std::chrono::milliseconds previewAfter{400}; ///< time until the first call; then four times as long
};

/// A file that is not part of the analysis.
struct ExcludedFile {
    std::filesystem::path file;
    std::optional<std::int64_t> rank; ///< if known
    Message why;
};

struct Job {
    JobFiles files;
    std::vector<analysis::RankDigest> ranks; ///< by rank; each number once
    std::vector<std::size_t> fileOf;         ///< by rank: index into files.files
    std::int64_t worldSize = 0;              ///< as recorded, otherwise the largest rank + 1
    std::vector<std::int64_t> missing;       ///< ranks without a usable trace
    std::vector<ExcludedFile> excluded;
    std::vector<Message> notes;
    analysis::JobAnalysis analysis;
};

/// Fails if no file is a usable trace. Damaged files, second traces of a rank and ranks of other jobs are excluded and
/// reported; the other ranks work without them.
Result<Job> openJob(JobFiles files, const JobOptions& options = {});

} // namespace profiler::job
