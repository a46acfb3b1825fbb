#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

/// Tunes a configuration: tries the changes that the rules propose and keeps those that pay.
namespace advisor {

/// Trains a configuration for a while and returns its trace; blocks. Callers provide it, because only executables read
/// trace files.
using Recorder = std::function<profiler::Result<std::shared_ptr<const profiler::Trace>>(const config::TrainingConfig&,
                                                                                        std::stop_token)>;

struct TunePlan {
    config::TrainingConfig start;
    std::filesystem::path trainer;        ///< empty: findTrainer()
    std::chrono::seconds budget{600};     ///< for all experiments together
    std::chrono::milliseconds turn{1000}; ///< see ExperimentPlan
    Recorder record;
};

/// A change that was tried.
struct TuneTrial {
    /// Refused: the program runs without the change and fails with it.
    enum class Outcome { Kept, Dropped, Failed, Skipped, Refused };
    Toggle change;
    std::vector<Toggle> with; ///< changes that were made together with it in this trial
    std::string rule;         ///< the rule that proposed it
    std::string title;        ///< title of the finding that it fixes, or why it was searched
    std::optional<Saving> predicted;
    std::optional<ExperimentResult> result; ///< no value: it failed or was skipped
    Outcome outcome = Outcome::Dropped;
    profiler::Message why;                ///< one sentence; for a failed trial, the error
    std::vector<profiler::Message> notes; ///< in addition to those of the result
    /// `why` with all notes as one text.
    [[nodiscard]] std::string whyText() const;
};
/// "kept", "dropped", "failed", "skipped", "refused by the program".
std::string_view outcomeName(TuneTrial::Outcome outcome);

struct TuneProgress {
    std::string doing;             ///< "recording", "pair 4 of at most 20"
    int round = 0;                 ///< number of recordings and rule runs, from 1
    std::optional<Toggle> trying;  ///< no value while it records
    std::optional<Interval> ratio; ///< of the change being tried, so far
    std::vector<TuneTrial> trials; ///< completed trials
    double secondsSpent = 0, secondsLeft = 0;
};

/// The result of a tuning of a configuration or of a program.
struct TuneOutcome {
    std::vector<TuneTrial> trials;  ///< in order
    std::vector<RuleAdvice> advice; ///< advice on the last recording
    /// Samples/s of the best relative to the start, see `whole`. Without `whole`, the product of the kept trials'
    /// ratios and of their intervals, which is biased upwards, because each change was kept for its high ratio.
    Interval ratio{1, 1, 1};
    std::optional<ExperimentResult> whole; ///< the start against the best; no value: nothing was kept, or there was not
                                           ///< enough time
    bool stopped = false;                  ///< on request of the user
    profiler::Message why;                 ///< why it ended
    double secondsSpent = 0;
};

struct TuneResult : TuneOutcome {
    config::TrainingConfig start, best;
};

/// Records a training run, runs the rules, tries the changes that they propose in the order of their estimated impact,
/// keeps those that pay, and records again after each kept change. Numbers of workers and batch sizes that paid are
/// searched further, and knobs related to a kept change (batch, precision, checkpointing, workers) are tried again.
/// Changes that save memory are tried with twice the batch size, and skipped if the dataset has too few samples for it.
/// A trial that fails, for example by running out of memory, is dropped and reported. A change of the batches is kept
/// only if the loss at equal time is shown to be not worse, because samples per second alone do not show that. Changes
/// that need a screening at equal time are left to the user. At the end, the start is measured against the best; part
/// of the budget is reserved for this. Blocks; the result is always the best so far, also after `stop` or at the end of
/// the budget.
/// @param progress called on the calling thread
/// @return an error only if the start itself cannot be trained
profiler::Result<TuneResult> tune(const TunePlan& plan, const std::function<void(const TuneProgress&)>& progress,
                                  std::stop_token stop);

/// Trains with this configuration for a while and stops; the trace is in `file` when this returns. Blocks.
/// @param least training time from the first step; training may end by itself before
/// @return an error if the configuration cannot be trained; Cancelled after `stop`
profiler::Result<void> recordTraining(const std::filesystem::path& trainer, const config::TrainingConfig& config,
                                      const std::filesystem::path& file, std::chrono::milliseconds least,
                                      const std::stop_token& stop);

/// Long enough for a few windows of recorded operators, short compared with an experiment.
inline constexpr std::chrono::seconds kRecordForRules{8};

} // namespace advisor
