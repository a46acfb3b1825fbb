#pragma once

#include "advisor/advice.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace advisor {

/// ratio with its 95 % interval (valid under the planned early stops).
struct Interval {
    double value = 0, low = 0, high = 0;
};

enum class Verdict { Pays, DoesNotPay, Costs, Inconclusive };

struct ExperimentPlan {
    config::TrainingConfig baseline;
    std::vector<Toggle> changes; ///< what the second arm has different; empty: A against A
    JudgedBy judgedBy = JudgedBy::Time;
    std::string measure = "steps"; ///< "steps", "epoch", "validation"
    std::optional<Saving> predicted;
    std::filesystem::path trainer;  ///< empty: findTrainer()
    std::chrono::seconds budget{0}; ///< 0: no limit but the plan's looks
    /// A turn lasts about so long: long against a trainer's waking up, short against the drift of the machine. (Five
    /// steps, one epoch or one validation at least.)
    std::chrono::milliseconds turn{1000};
};

/// One pair of turns.
struct Pair {
    double a = 0, b = 0; ///< samples/s of each arm
    double logRatio = 0; ///< log(b / a)
};

struct ExperimentProgress {
    std::string doing; ///< "warming up", "pair 4 of at most 20"
    std::vector<Pair> pairs;
    std::optional<Interval> ratio;            ///< b / a so far; above 1 the change is faster
    double secondsSpent = 0, secondsLeft = 0; ///< left: at most, estimated
};

struct ExperimentResult {
    ExperimentPlan plan;
    std::vector<Pair> pairs;
    Interval samplesPerSecond; ///< ratio b / a with interval
    double samplesPerSecondA = 0, samplesPerSecondB = 0;
    double unitUsA = 0, unitUsB = 0; ///< µs of a step (epoch, validation) in each arm
    Interval savedUs;                ///< measured saving a − b in µs per unit
    double lossA = 0, lossB = 0;     ///< over the same batches
    bool lossParity = true;
    double lossTolerance = 0;
    std::int64_t peakBytesA = 0, peakBytesB = 0;
    Interval savedBytes; ///< measured saving a − b at the peak; only when judged by memory
    Verdict verdict = Verdict::Inconclusive;
    std::string why; ///< one sentence
    double secondsSpent = 0;
};

/// About how long an experiment of this plan takes, from the last known step time.
/// @param stepUs  µs of a baseline step (epoch, validation)
std::chrono::seconds expectedDuration(const ExperimentPlan& plan, double stepUs);

/// Two resident trainers taking turns, A B B A …, profiler off. Blocks; call from a worker thread.
/// @param progress  called on the calling thread after every turn
/// @return Error with code Cancelled after `stop`; what was measured until then was given to `progress`
profiler::Result<ExperimentResult> runExperiment(const ExperimentPlan& plan,
                                                 const std::function<void(const ExperimentProgress&)>& progress,
                                                 std::stop_token stop);

/// "pays", "does not pay", "costs", "inconclusive".
std::string_view verdictName(Verdict verdict);

} // namespace advisor
