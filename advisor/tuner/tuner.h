#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/rule.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace advisor {

/// Trains a configuration for a while and gives its trace; blocks. It lies with the caller, since only programs read
/// trace files.
using Recorder = std::function<profiler::Result<std::shared_ptr<const profiler::Trace>>(const config::TrainingConfig&,
                                                                                        std::stop_token)>;

struct TunePlan {
    config::TrainingConfig start;
    std::filesystem::path trainer;        ///< empty: findTrainer()
    std::chrono::seconds budget{600};     ///< of all experiments together
    std::chrono::milliseconds turn{1000}; ///< see ExperimentPlan
    Recorder record;
};

/// A change that was tried.
struct TuneTrial {
    /// Refused: the program runs unchanged and fails with the change.
    enum class Outcome { Kept, Dropped, Failed, Skipped, Refused };
    Toggle change;
    std::string rule;  ///< that advised it
    std::string title; ///< of the finding that it mends, or why it was searched
    std::optional<Saving> predicted;
    std::optional<ExperimentResult> result; ///< none: it failed or was skipped
    Outcome outcome = Outcome::Dropped;
    profiler::Message why;                ///< one sentence; of a failed trial, the error
    std::vector<profiler::Message> notes; ///< besides those of the result
    /// `why` with all notes, as one text.
    [[nodiscard]] std::string whyText() const;
};
/// "kept", "dropped", "failed", "skipped", "refused by the program".
std::string_view outcomeName(TuneTrial::Outcome outcome);

struct TuneProgress {
    std::string doing;             ///< "recording", "pair 4 of at most 20"
    int round = 0;                 ///< of recording and asking the rules; from 1
    std::optional<Toggle> trying;  ///< none while it records
    std::optional<Interval> ratio; ///< of what is tried, so far
    std::vector<TuneTrial> trials; ///< ended ones
    double secondsSpent = 0, secondsLeft = 0;
};

/// What a tuning comes to, of a configuration or of a program.
struct TuneOutcome {
    std::vector<TuneTrial> trials;  ///< in order
    std::vector<RuleAdvice> advice; ///< of the last recording
    /// Samples/s of the best against the start, see `whole`. Without that, the product of the kept trials' ratios and
    /// of their intervals: too high rather than too low, since each was kept for being high.
    Interval ratio{1, 1, 1};
    std::optional<ExperimentResult> whole; ///< the start against the best; none: nothing was kept, or there was no time
    bool stopped = false;                  ///< by request
    profiler::Message why;                 ///< it ended
    double secondsSpent = 0;
};

struct TuneResult : TuneOutcome {
    config::TrainingConfig start, best;
};

/// Records, asks the rules, tries what they advise in order of what it is worth, keeps what pays, and records anew
/// after each kept change. Numbers of workers and batch sizes that paid are searched further, and what hangs together
/// with a kept change (batch, precision, recomputing, workers) is tried again. What saves memory is tried with twice
/// the batch, and skipped where the data set has not so many samples. A trial that fails, by running out of memory say,
/// is dropped and reported. A change of the batches is kept only where the loss at equal time is shown to be not worse:
/// samples per second alone do not decide that. Changes that need a screening at equal time are left to the user. At
/// the end the start is measured against the best, for which a part of the budget is kept. Blocks; the best so far is
/// always the result, also after `stop` or at the end of the budget.
/// @param progress  called on the calling thread
/// @return an error only where the start itself cannot be trained
profiler::Result<TuneResult> tune(const TunePlan& plan, const std::function<void(const TuneProgress&)>& progress,
                                  std::stop_token stop);

} // namespace advisor
