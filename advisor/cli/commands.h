#pragma once

#include "profiler/model/result.h"
#include "profiler/model/trace.h"

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

/// The commands of stepscope-cli. Each writes its result to `out`, progress and the one line of an error to `err`, and
/// returns the exit status.
namespace advisor::cli {

/// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kBadInput = 1; ///< the input cannot be used: one line says what, where, and how to mend it
inline constexpr int kWrongUsage = 2;

struct Streams {
    std::ostream& out;
    std::ostream& err;
};

struct SummarizeOptions {
    std::filesystem::path trace;
    bool json = false;
};
int summarize(const SummarizeOptions& options, const Streams& streams);

struct AdviseOptions {
    std::filesystem::path trace;
    std::filesystem::path config; ///< empty: the configuration that the trace holds, if it does
    bool json = false;
};
int adviseOn(const AdviseOptions& options, const Streams& streams);

struct DescribeOptions {
    bool json = false;
};
int describe(const DescribeOptions& options, const Streams& streams);

struct TrainOptions {
    std::filesystem::path config;
    std::vector<std::string> assignments; ///< "loader.workers=2"
    std::filesystem::path trace;
    bool json = false;
};
/// Ctrl-C stops the trainer, which finishes its step and the trace; a second one kills it.
int train(const TrainOptions& options, const Streams& streams);

struct ExperimentOptions {
    std::filesystem::path config;
    std::vector<std::string> assignments; ///< what the second arm has different
    std::filesystem::path trace;          ///< to predict from; may be empty
    std::string measure;                  ///< "steps", "epoch", "validation"; empty: where the knob acts
    std::int64_t budgetSeconds = 0;       ///< 0: as many pairs as the plan has
    bool json = false;
};
int experiment(const ExperimentOptions& options, const Streams& streams);

/// Opens one of our traces.
profiler::Result<std::shared_ptr<const profiler::Trace>> openTrace(const std::filesystem::path& path);

} // namespace advisor::cli
