#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

/// The protocol of the trainer: it reads commands from stdin and writes progress to a separate descriptor
/// (`--progress-fd N`), one JSON object per line. Shared by the trainer and the programs that start it.
namespace config::protocol {

// ---- progress: from the trainer to the program that started it ----

/// First record of every run.
struct Hello {
    std::int64_t pid = 0;
    std::string torchVersion;
    std::string device;          ///< "cpu" or the GPU's name
    std::int64_t parameters = 0; ///< of the model
    std::int64_t trainSamples = 0, validationSamples = 0;
    std::int64_t stepsPerEpoch = 0;
    std::int64_t totalSteps = 0; ///< planned; 0: until stopped by a command (turns)
};
/// Work before the first step: writing the generated data set, scanning a folder, loading a library.
struct Preparing {
    std::string what;
    std::int64_t done = 0, total = 0; ///< total 0: unknown
};
/// At most about twenty per second; covers all steps since the previous record.
struct StepProgress {
    std::int64_t step = 0, epoch = 0; ///< last finished step, from 0
    std::int64_t steps = 0;           ///< number of steps that this record covers
    double stepSeconds = 0;           ///< mean over these steps
    double samplesPerSecond = 0;
    std::optional<double> loss; ///< the last loss that was read back (sync.every_n_steps)
    std::uint64_t dropped = 0;  ///< events dropped so far
    std::int64_t samples = 0;   ///< trained on so far: one axis to plot the loss against
    double seconds = 0;         ///< since the first step began, validations included: the other axis
    double learningRate = 0;    ///< of the last step
    std::int64_t skipped = 0;   ///< steps so far whose FP16 gradients overflowed
};
struct EpochProgress {
    std::int64_t epoch = 0;
    double trainLoss = 0, validationLoss = 0;
    double trainAccuracy = 0, validationAccuracy = 0; ///< of the metric, see metricText()
    double epochSeconds = 0, validationSeconds = 0;
    std::int64_t samples = 0;        ///< trained on so far
    double seconds = 0;              ///< since the first step began, including this validation
    std::string metric = "accuracy"; ///< the model's metric: accuracy, perplexity, dice, rmse, loss
};
/// Answer to a Turn; with several ranks, the combined result, in the time of the first rank.
struct TurnResult {
    std::string what;            ///< "steps", "epoch" or "validation"
    std::vector<double> seconds; ///< of each timed step, epoch or validation
    std::vector<double> losses;  ///< of each timed step, or mean of each timed validation; empty for epochs
    std::int64_t samples = 0;    ///< over the timed ones
    std::int64_t peakBytes = 0;  ///< peak of the memory held by tensors on one device so far
};
/// A value in a notice, as in profiler::MessageParameter: once for programs, and once as the notice's text shows it.
struct NoticeValue {
    std::string name;
    std::variant<std::int64_t, double, std::string> value;
    std::string text;
    friend bool operator==(const NoticeValue&, const NoticeValue&) = default;
};
/// Something the user should know, for example a broken file that was skipped or a full disk.
struct Notice {
    enum class Severity { Info, Warning, Error };
    Severity severity = Severity::Info;
    std::string what, where, hint;
    std::int64_t count = 1; ///< occurrences so far (skipped files)
    std::string id;         ///< id of `what`: "training.out_of_memory"; empty only for the text of another program
    std::vector<NoticeValue> parameters;
};
/// Last record of a run that ended normally or by Stop.
struct Done {
    std::int64_t steps = 0;
    double seconds = 0;
    double samplesPerSecond = 0;
    std::int64_t peakBytes = 0; ///< peak memory, see peakOf
    bool stopped = false;       ///< by command
    double finalLoss = 0, validationAccuracy = 0;
    std::int64_t samples = 0;        ///< trained on
    std::int64_t skipped = 0;        ///< steps whose FP16 gradients overflowed
    std::string metric = "accuracy"; ///< see EpochProgress
    std::string peakOf = "process";  ///< what peakBytes counts: "process", its resident set (CPU); "tensors" (CUDA)
};
using Progress = std::variant<Hello, Preparing, StepProgress, EpochProgress, TurnResult, Notice, Done>;

/// A metric's value for display: "accuracy 87.1 %", "perplexity 4.2".
std::string metricText(std::string_view metric, double value);

/// {"type": "step", "step": 12, …}\n
std::string toLine(const Progress& progress);
/// The error is one sentence that quotes the start of the faulty line.
tl::expected<Progress, std::string> parseProgress(std::string_view line);

// ---- commands: to the trainer ----

struct Pause {};
struct Resume {};
/// Finish the step, finish the trace, exit with status 0.
struct Stop {};
/// Record operators in the next `steps` steps.
struct Record {
    std::int64_t steps = 5;
};
/// With `--turns` a trainer stays idle until it receives a Turn; its loader workers are parked. It then resumes them,
/// runs `drop` steps that are not counted and `count` timed steps (or epochs, or validation passes), parks the workers
/// again and answers with TurnResult.
struct Turn {
    std::string what = "steps"; ///< "steps", "epoch", "validation"
    std::int64_t drop = 0, count = 1;
};
using Command = std::variant<Pause, Resume, Stop, Record, Turn>;
std::string toLine(const Command& command);
tl::expected<Command, std::string> parseCommand(std::string_view line);

// ---- the trainer's capabilities: `stepscope-train --describe` ----

struct Choice {
    std::string id, title, doc;
};
struct Description {
    std::vector<Choice> workloads, datasets, optimizers, schedules;
    bool gpuAvailable = false;
    std::string gpuReason;   ///< why the GPU cannot be used, as text
    std::string gpuReasonId; ///< the id of that message: "gpu.no_driver"
    std::string torchVersion;
    int cores = 0; ///< cores that the process may use
};
/// Includes the knob table, see config::knobsJson().
std::string toJson(const Description& description);
tl::expected<Description, std::string> parseDescription(std::string_view json);

/// Exit statuses of stepscope-train.
enum class Exit : int { Done = 0, BadInput = 1, WrongUsage = 2, Failed = 3 };

} // namespace config::protocol
