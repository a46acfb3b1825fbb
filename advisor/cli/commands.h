#pragma once

#include "advisor/cli/step_choice.h"

#include <filesystem>
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
inline constexpr int kInterrupted = 130; ///< as a shell says it of a program that Ctrl-C ended

struct Streams {
    std::ostream& out;
    std::ostream& err;
};

struct SummarizeOptions {
    std::filesystem::path trace;
    StepChoice steps;
    bool closer = false; ///< a closer look too, which costs more than all the rest
    bool json = false;
};
int summarize(const SummarizeOptions& options, const Streams& streams);

struct AdviseOptions {
    std::filesystem::path trace;
    std::filesystem::path config; ///< empty: the configuration that the trace holds, if it does
    StepChoice steps;
    std::string python = "python3"; ///< the interpreter that makes the diffs of a recorded program
    bool json = false;
};
int adviseOn(const AdviseOptions& options, const Streams& streams);

struct PatchOptions {
    std::filesystem::path trace;
    std::vector<std::string> assignments; ///< "loader.workers=4"
    std::string python = "python3";       ///< the interpreter of the patcher; never one that the trace names
    bool apply = false;                   ///< write the patch into the files
    bool revert = false;                  ///< write the files back as they were
    std::string branch;                   ///< commit the patch on this new branch; may be empty
    std::filesystem::path measured;       ///< result of `experiment --json`, for the commit's message; may be empty
    bool json = false;
};
/// Changes of a recorded Python program, in its own files.
int patchSource(const PatchOptions& options, const Streams& streams);

struct LinesOptions {
    std::filesystem::path trace;
    std::string file; ///< a path, or the end of one; empty: all files
    bool json = false;
};
/// The user's source lines with host time, device time, waits and findings.
int lines(const LinesOptions& options, const Streams& streams);

struct DiffOptions {
    std::filesystem::path a, b;
    StepChoice steps;
    bool json = false;
};
int diff(const DiffOptions& options, const Streams& streams);

struct ConvertOptions {
    std::filesystem::path in, out; ///< the extension of `out` names its format
};
/// Ctrl-C ends it and leaves nothing behind; exit status 130.
int convert(const ConvertOptions& options, const Streams& streams);

struct DescribeOptions {
    bool json = false;
    bool tips = false; ///< the table of tips, Markdown, and nothing else
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

struct RecordOptions {
    std::filesystem::path trace; ///< empty: named after the program, in the working directory
    std::vector<std::string> command;
    std::string level = "standard";       ///< "always", "standard", "full"
    bool operators = false;               ///< of a Python's LibTorch
    std::int64_t opsEvery = 0;            ///< those of a window of every so many training steps; 0: of all steps
    std::int64_t opsWindow = 5;           ///< steps of that window
    bool python = true;                   ///< loader waits, steps and phases of a Python, by hooks
    std::vector<std::string> environment; ///< NAME=VALUE, added to the environment of the command
    double after = 0;                     ///< seconds from the command's start until recording begins
    double seconds = 0;                   ///< how long is recorded; 0: to the command's end
    bool json = false;                    ///< on stderr: the standard output is the command's
    std::filesystem::path report;         ///< what came of it, as JSON, in this file and not on stderr; may be empty
};
/// Runs a command, recorded, with its standard streams and signals. Returns the command's own exit status, 128 + the
/// signal's number where one ended it; kBadInput where it could not be run or recorded.
int record(const RecordOptions& options, const Streams& streams);

/// A program of the user's that is run several times: after `--`, and how.
struct ProgramOptions {
    std::vector<std::string> command;     ///< empty: a configuration is used instead
    std::vector<std::string> environment; ///< NAME=VALUE, added to the environment of the command
    std::string isolation = "overlay";    ///< "overlay", "copy", "in-place"
    bool terminal = false;                ///< the command gets a pseudo-terminal
    bool seeds = true;                    ///< seed what the program does not seed
    std::int64_t patienceSeconds = 300;   ///< see ProgramSetup::startPatience
    std::filesystem::path logs;           ///< folder for what the command prints; empty: a new temporary one
};

struct ExperimentOptions : ProgramOptions {
    std::filesystem::path config;
    std::vector<std::string> assignments; ///< what the second arm has different
    std::filesystem::path trace;          ///< to predict from; may be empty
    std::string measure;                  ///< "steps", "epoch", "validation"; empty: where the knob acts
    std::int64_t budgetSeconds = 0;       ///< 0: as many pairs as the plan has
    std::int64_t horizonSeconds = 0;      ///< see ExperimentPlan
    std::int64_t turnMilliseconds = 1000; ///< see ExperimentPlan
    std::filesystem::path patch;          ///< a unified diff of the second arm of a command; may be empty
    std::string against;                  ///< the second arm's command; may be empty
    bool json = false;
};
/// Exit status kDone whatever the verdict is.
int experiment(const ExperimentOptions& options, const Streams& streams);
/// The part of it for `-- COMMAND`.
int programExperiment(const ExperimentOptions& options, const Streams& streams);

struct TuneOptions : ProgramOptions {
    std::filesystem::path config;
    std::filesystem::path trace; ///< a recording of the command; empty: one is made
    std::int64_t budgetSeconds = 600;
    std::int64_t turnMilliseconds = 1000; ///< see ExperimentPlan
    std::filesystem::path output;         ///< folder for config.json or changes.patch, and report.html; empty: none
    bool json = false;
};
/// Ctrl-C ends it with the best found until then.
int tune(const TuneOptions& options, const Streams& streams);
/// The part of it for `-- COMMAND`.
int tuneProgram(const TuneOptions& options, const Streams& streams);

struct ReportOptions {
    std::filesystem::path trace;   ///< or a folder that holds one, as the app keeps runs
    std::filesystem::path config;  ///< empty: the configuration that the trace holds, if it does
    std::filesystem::path against; ///< a trace before, to compare with; may be empty
    StepChoice steps;              ///< of both
    std::filesystem::path output;
};
/// One self-contained HTML file.
int report(const ReportOptions& options, const Streams& streams);

} // namespace advisor::cli
