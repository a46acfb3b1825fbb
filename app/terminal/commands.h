#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

/// The commands of stepscope-cli. Each writes its result to `out`, progress and one-line errors to `err`, and returns
/// the exit status.
namespace app::terminal {

/// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kBadInput = 1; ///< the input cannot be used: one line says what, where, and how to fix it
inline constexpr int kWrongUsage = 2;
inline constexpr int kSlower = 3;        ///< `diff --fail-if-slower`: slower than allowed, or not comparable
inline constexpr int kInterrupted = 130; ///< the shell's status for a program that Ctrl-C ended

struct Streams {
    std::ostream& out;
    std::ostream& err;
};

/// How a command finds the steps of a trace.
enum class StepSearch {
    Automatic,  ///< marks; if the trace has none, repeated work
    Marks,      ///< marks only
    Repetition, ///< repeated work, even if there are marks
    None        ///< analyze the whole trace without steps
};

/// What a command uses as training steps.
struct StepChoice {
    std::string range; ///< NVTX ranges or annotations of this name are the steps; empty: see `search`
    StepSearch search = StepSearch::Automatic;
};

/// The value of `--steps-from`: auto, marks, repetition, none.
std::vector<std::string> stepSearchNames();
StepSearch stepSearchOf(std::string_view name);

struct SummarizeOptions {
    std::vector<std::filesystem::path> traces; ///< several files, a folder or a pattern: the ranks of one job
    StepChoice steps;
    bool detailed = false;               ///< also run the detailed analysis, which takes longer than everything else
    std::optional<std::int64_t> whyStep; ///< explain why the step with this index takes longer than the median
    bool scaling = false;                ///< each of the traces is a job of another size
    bool json = false;
};
int summarize(const SummarizeOptions& options, const Streams& streams);

struct AdviseOptions {
    std::vector<std::filesystem::path> traces; ///< several files, a folder or a pattern: the ranks of one job
    std::filesystem::path config;              ///< empty: the configuration in the trace, if it contains one
    StepChoice steps;
    std::string python = "python3";   ///< the interpreter that creates the diffs of a recorded program
    std::optional<std::int64_t> rank; ///< of a trace or a job with several; none: the slowest
    bool json = false;
};
int adviseOn(const AdviseOptions& options, const Streams& streams);

struct PatchOptions {
    std::filesystem::path trace;
    std::vector<std::string> assignments; ///< "loader.workers=4"
    std::string python = "python3";       ///< the interpreter of the patcher; never taken from the trace
    bool apply = false;                   ///< write the patch to the files
    bool revert = false;                  ///< restore the files
    std::string branch;                   ///< commit the patch on this new branch; may be empty
    std::filesystem::path measured;       ///< result of `experiment --json`, for the commit message; may be empty
    bool json = false;
};
/// Changes of a recorded Python program in its own files.
int patchSource(const PatchOptions& options, const Streams& streams);

struct LinesOptions {
    std::filesystem::path trace;
    std::string file; ///< a path or the end of one; empty: all files
    bool json = false;
};
/// The user's source lines with host time, device time, waits and findings.
int lines(const LinesOptions& options, const Streams& streams);

struct QueryOptions {
    std::filesystem::path trace;
    std::string sql; ///< "-": read from the standard input
    StepChoice steps;
    std::size_t limit = 0; ///< most rows of the result; 0: 1000 in a table, otherwise the limit of a query
    double timeoutSeconds = 30;
    bool tables = false; ///< list the tables and columns instead
    bool json = false, csv = false;
};
/// SQL over a trace. An error in the SQL text is wrong usage, and is shown with a caret at its place.
int query(const QueryOptions& options, const Streams& streams);

struct CallsOptions {
    std::filesystem::path trace;
    StepChoice steps;
    std::string by = "operator";      ///< "operator", "python", "module"
    bool device = false;              ///< time of the device work that a call launched, instead of host time
    bool bottomUp = false;            ///< the callers of each call
    std::optional<std::int64_t> step; ///< index of the only step to show; empty: the whole trace
    bool collapsed = false;           ///< Brendan Gregg's collapsed stacks, for flamegraph.pl, speedscope and others
    bool json = false;
};
/// The call tree of a trace.
int calls(const CallsOptions& options, const Streams& streams);

struct DiffOptions {
    std::filesystem::path a, b; ///< traces, or folders or patterns: the ranks of a job
    StepChoice steps;
    std::optional<double> failIfSlower; ///< percent
    std::filesystem::path junit;        ///< file to write; empty: none
    std::optional<std::int64_t> step;   ///< index of the only step of `a` to compare; empty: the whole traces
    bool json = false;
};
/// The exit status is kSlower if `failIfSlower` is set and not met.
int diff(const DiffOptions& options, const Streams& streams);

struct ConvertOptions {
    std::filesystem::path in, out; ///< its extension determines the format
};
/// Ctrl-C stops it without leaving a partial file; exit status 130.
int convert(const ConvertOptions& options, const Streams& streams);

struct DescribeOptions {
    bool json = false;
    bool tips = false; ///< print only the table of tips, in Markdown
};
int describe(const DescribeOptions& options, const Streams& streams);

struct TrainOptions {
    std::filesystem::path config;
    std::vector<std::string> assignments; ///< "loader.workers=2"
    std::filesystem::path trace;
    bool json = false;
};
/// Ctrl-C stops the trainer, which finishes its step and the trace; a second Ctrl-C kills it.
int train(const TrainOptions& options, const Streams& streams);

/// A level of `record` below those of CaptureLevel, see recordAlwaysOn(). Its former name, "always-on", is accepted
/// too.
inline constexpr const char* kSteps = "steps";

/// The machine on which a command runs; this one if neither `host` nor `through` is set.
struct RemotePlace {
    std::optional<std::string> host;    ///< over ssh
    std::optional<std::string> through; ///< the prefix of commands that run there: "docker exec -i NAME"
    std::string folder;                 ///< working directory there; empty: that of the shell
    [[nodiscard]] bool isRemote() const { return host || through; }
};

struct RecordOptions {
    std::filesystem::path trace; ///< empty: named after the program, in the working directory
    std::vector<std::string> command;
    std::string level = "standard";       ///< kSteps, "always", "standard", "full"
    double captureSlow = 0;               ///< level kSteps: seconds between two captures that slow steps start; 0: none
    bool operators = false;               ///< operators of LibTorch in Python programs
    std::int64_t opsEvery = 0;            ///< operators only in a window at the start of every n training steps; 0: in
                                          ///< all steps
    std::int64_t opsWindow = 5;           ///< number of steps in that window
    bool python = true;                   ///< loader waits, steps and phases of Python programs, through hooks
    std::vector<std::string> environment; ///< NAME=VALUE, added to the environment of the command
    double after = 0;                     ///< seconds from the command's start until recording begins
    double seconds = 0;                   ///< length of the recording; 0: until the command ends
    std::string steps;                    ///< "10-29": record only these training steps; empty: all
    std::string ranks;                    ///< "0,7,64-71": record only these ranks of a job; empty: all
    std::string maxSize;                  ///< "2GB": largest recording of a rank; empty: no limit
    double patience = 0;          ///< seconds without a step after which a process that trains is stopped; 0: any
    RemotePlace place;            ///< record there (remote_record.h)
    bool json = false;            ///< print to stderr, because the standard output belongs to the command
    std::filesystem::path report; ///< write the result as JSON to this file instead of stderr; may be empty
};
/// Runs and records a command with its standard streams and signals. Returns the command's own exit status, or 128 +
/// signal number if a signal ended it; kBadInput if it could not be run or recorded.
int record(const RecordOptions& options, const Streams& streams);
/// The implementation for `--level steps`: the steps of each rank in a file of bounded size, which can stay on for
/// weeks. `trace` names the folder, which is created.
int recordAlwaysOn(const RecordOptions& options, const Streams& streams);

struct WatchOptions {
    std::filesystem::path place; ///< folder of a recording, or the trace that it writes
    std::chrono::duration<double> interval{1};
    bool once = false;
    bool history = false;     ///< the minutes of an always-on recording
    std::int64_t capture = 0; ///< record this many steps of an always-on recording in full; 0: none
    std::string prometheus;   ///< file to write; "-": standard output, once; empty: none
    bool json = false;        ///< one line per interval
    RemotePlace machine;      ///< the recording is there (remote_watch.h)
    /// The state is shown again and again.
    [[nodiscard]] bool isLive() const { return !once && !history && capture == 0 && prometheus != "-"; }
};
/// Shows what running recordings do, until they end or Ctrl-C.
int watch(const WatchOptions& options, const Streams& streams);

/// A user's program that is run several times: the command after `--` and how to run it.
struct ProgramOptions {
    std::vector<std::string> command;     ///< empty: a configuration is used instead
    std::vector<std::string> environment; ///< NAME=VALUE, added to the environment of the command
    std::string isolation = "overlay";    ///< "overlay", "copy", "in-place"
    bool terminal = false;                ///< run the command in a pseudo-terminal
    bool seeds = true;                    ///< seed libraries that the program does not seed
    std::int64_t patienceSeconds = 300;   ///< see ProgramSetup::startPatience
    std::filesystem::path logs;           ///< folder for the command's output; empty: a new temporary one
};

struct ExperimentOptions : ProgramOptions {
    std::filesystem::path config;
    std::vector<std::string> assignments; ///< the change in the second arm
    std::filesystem::path trace;          ///< trace for the prediction; may be empty
    std::string measure;                  ///< "steps", "epoch", "validation"; empty: whatever the knob affects
    std::int64_t budgetSeconds = 0;       ///< 0: the planned number of pairs
    std::int64_t horizonSeconds = 0;      ///< see ExperimentPlan
    std::int64_t turnMilliseconds = 1000; ///< see ExperimentPlan
    std::filesystem::path patch;          ///< unified diff for the second arm of a command; may be empty
    std::string against;                  ///< the second arm's command; may be empty
    bool json = false;
};
/// The exit status is kDone whatever the verdict is.
int experiment(const ExperimentOptions& options, const Streams& streams);
/// The implementation for `-- COMMAND`.
int programExperiment(const ExperimentOptions& options, const Streams& streams);

struct TuneOptions : ProgramOptions {
    std::filesystem::path config;
    std::filesystem::path trace; ///< a recording of the command; empty: a new one is made
    std::int64_t budgetSeconds = 600;
    std::int64_t turnMilliseconds = 1000; ///< see ExperimentPlan
    std::filesystem::path output;         ///< folder for config.json or changes.patch, and report.html; empty: none
    bool json = false;
};
/// Ctrl-C stops it with the best result so far.
int tune(const TuneOptions& options, const Streams& streams);
/// The implementation for `-- COMMAND`.
int tuneProgram(const TuneOptions& options, const Streams& streams);

struct ReportOptions {
    std::filesystem::path trace;   ///< or a folder that contains one, as the app stores runs
    std::filesystem::path config;  ///< empty: the configuration in the trace, if it contains one
    std::filesystem::path against; ///< a previous trace to compare with; may be empty
    StepChoice steps;              ///< for both traces
    std::filesystem::path output;
};
/// One self-contained HTML file.
int report(const ReportOptions& options, const Streams& streams);

struct DoctorOptions {
    bool json = false;
};
/// What this machine offers for recording and measuring, and which command adds what is missing. The exit status is
/// kBadInput if nothing can be recorded here.
int doctor(const DoctorOptions& options, const Streams& streams);

struct McpOptions {
    bool allowRun = false; ///< offer the tools that run programs
};
/// A server for assistants: the Model Context Protocol over standard input and output. Returns when the client closes
/// the input.
int serveMcp(const McpOptions& options, const Streams& streams);

} // namespace app::terminal
