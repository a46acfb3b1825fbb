#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

/// How a trainer is spoken to. Commands come on its stdin, progress goes to a descriptor of its own (`--progress-fd
/// N`), both one JSON object a line. Shared by the trainer and by whoever starts it.
namespace config::protocol {

// ---- progress: trainer → its starter ----

/// First record of every run.
struct Hello {
    std::int64_t pid = 0;
    std::string torchVersion;
    std::string device;          ///< "cpu" or the GPU's name
    std::int64_t parameters = 0; ///< of the model
    std::int64_t trainSamples = 0, validationSamples = 0;
    std::int64_t stepsPerEpoch = 0;
    std::int64_t totalSteps = 0; ///< planned; 0: until told to stop (turns)
};
/// Work before the first step: writing the generated data set, scanning a folder, loading a library.
struct Preparing {
    std::string what;
    std::int64_t done = 0, total = 0; ///< total 0: not known
};
/// At most about twenty a second; covers the steps since the record before.
struct StepProgress {
    std::int64_t step = 0, epoch = 0; ///< last finished step, from 0
    std::int64_t steps = 0;           ///< how many steps this record covers
    double stepSeconds = 0;           ///< mean over them
    double samplesPerSecond = 0;
    std::optional<double> loss; ///< the last loss that was read back (sync.every_n_steps)
    std::uint64_t dropped = 0;  ///< events dropped so far
    std::int64_t samples = 0;   ///< trained on so far: what the loss is to be judged against …
    double seconds = 0;         ///< … or against this, since the first step began, validations included
    double learningRate = 0;    ///< of the last step
    std::int64_t skipped = 0;   ///< steps so far that FP16 gradients overflowed in
};
struct EpochProgress {
    std::int64_t epoch = 0;
    double trainLoss = 0, validationLoss = 0;
    double trainAccuracy = 0, validationAccuracy = 0; ///< of the metric, see metricText()
    double epochSeconds = 0, validationSeconds = 0;
    std::int64_t samples = 0;        ///< trained on so far
    double seconds = 0;              ///< since the first step began, this validation included
    std::string metric = "accuracy"; ///< what the model is judged by: accuracy, perplexity, dice, rmse, loss
};
/// Answer to a Turn; of several ranks, what all of them came to, in the time of the first.
struct TurnResult {
    std::string what;            ///< "steps", "epoch" or "validation"
    std::vector<double> seconds; ///< of each timed step, epoch or validation
    std::vector<double> losses;  ///< of each timed step, or mean of each timed validation; empty for epochs
    std::int64_t samples = 0;    ///< over the timed ones
    std::int64_t peakBytes = 0;  ///< most that tensors held at once on one device so far
};
/// A value in a notice, as in profiler::MessageParameter: for programs, and as the notice's text shows it.
struct NoticeValue {
    std::string name;
    std::variant<std::int64_t, double, std::string> value;
    std::string text;
    friend bool operator==(const NoticeValue&, const NoticeValue&) = default;
};
/// Something the user should know: a broken file that was skipped, a disk that is full.
struct Notice {
    enum class Severity { Info, Warning, Error };
    Severity severity = Severity::Info;
    std::string what, where, hint;
    std::int64_t count = 1; ///< how often so far (skipped files)
    std::string id;         ///< of `what`: "training.out_of_memory"; empty only for words of another program
    std::vector<NoticeValue> parameters;
};
/// Last record of a run that ended by itself or by Stop.
struct Done {
    std::int64_t steps = 0;
    double seconds = 0;
    double samplesPerSecond = 0;
    std::int64_t peakBytes = 0; ///< most memory at once, see peakOf
    bool stopped = false;       ///< by command
    double finalLoss = 0, validationAccuracy = 0;
    std::int64_t samples = 0;        ///< trained on
    std::int64_t skipped = 0;        ///< steps that FP16 gradients overflowed in
    std::string metric = "accuracy"; ///< see EpochProgress
    std::string peakOf = "process";  ///< what peakBytes counts: "process", its resident set (CPU); "tensors" (CUDA)
};
using Progress = std::variant<Hello, Preparing, StepProgress, EpochProgress, TurnResult, Notice, Done>;

/// "accuracy 87.1 %", "perplexity 4.2": a value of a metric for people.
std::string metricText(std::string_view metric, double value);

/// {"type": "step", "step": 12, …}\n
std::string toLine(const Progress& progress);
/// The error is one sentence with the offending line's beginning.
tl::expected<Progress, std::string> parseProgress(std::string_view line);

// ---- commands: starter → trainer ----

struct Pause {};
struct Resume {};
/// Finish the step, write the trace's end, exit 0.
struct Stop {};
/// Record ops in the next `steps` steps.
struct Record {
    std::int64_t steps = 5;
};
/// With `--turns` a trainer does nothing until it is told to: loader workers are parked. It un-parks them, runs `drop`
/// steps that do not count, then `count` timed steps (or epochs, or validation passes), parks again and answers with
/// TurnResult.
struct Turn {
    std::string what = "steps"; ///< "steps", "epoch", "validation"
    std::int64_t drop = 0, count = 1;
};
using Command = std::variant<Pause, Resume, Stop, Record, Turn>;
std::string toLine(const Command& command);
tl::expected<Command, std::string> parseCommand(std::string_view line);

// ---- what a trainer can do: `stepscope-train --describe` ----

struct Choice {
    std::string id, title, doc;
};
struct Description {
    std::vector<Choice> workloads, datasets, optimizers, schedules;
    bool gpuAvailable = false;
    std::string gpuReason;   ///< why there is none, in words
    std::string gpuReasonId; ///< the id of that message: "gpu.no_driver"
    std::string torchVersion;
    int cores = 0; ///< that the process may use
};
/// Has the table of knobs as well, see config::knobsJson().
std::string toJson(const Description& description);
tl::expected<Description, std::string> parseDescription(std::string_view json);

/// Exit statuses of stepscope-train.
enum class Exit : int { Done = 0, BadInput = 1, WrongUsage = 2, Failed = 3 };

} // namespace config::protocol
