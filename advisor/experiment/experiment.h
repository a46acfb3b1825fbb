#pragma once

#include "advisor/advice.h"
#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace advisor {

/// A ratio or a difference with its 95 % interval (valid under the planned early stops). Not measured: no number, and
/// anything is possible.
struct Interval {
    double value = std::numeric_limits<double>::quiet_NaN();
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    /// False where there were too few observations for an interval.
    [[nodiscard]] bool isKnown() const { return std::isfinite(low) && std::isfinite(high); }
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
    /// Judged by convergence: from each seed both arms train so long. 0: as long as the baseline's training is, at most
    /// kHorizon, and less where the budget is too small for that.
    std::chrono::milliseconds horizon{0};
};
/// What a change does to the learning shows early or late, but not in seconds; and up to ten seeds have to be trained.
inline constexpr std::chrono::seconds kHorizon{20};

/// One pair of turns.
struct Pair {
    double a = 0, b = 0; ///< samples/s of each arm
    double logRatio = 0; ///< log(b / a)
};

struct ExperimentProgress {
    std::string doing; ///< "warming up", "pair 4 of at most 20"
    JudgedBy judgedBy = JudgedBy::Time;
    std::vector<Pair> pairs; ///< as in the result
    /// So far; above 1 the change is better. Speeds b / a, or losses at equal time a / b.
    std::optional<Interval> ratio;
    std::optional<Interval> savedLoss;        ///< a − b at equal time so far; only when judged by convergence
    double secondsSpent = 0, secondsLeft = 0; ///< left: at most, estimated
};

/// What both arms have learnt after training equally long.
struct LossAtEqualTime {
    bool validation = false; ///< a validation's mean; else the mean over the last fifth of the training's time
    double seconds = 0;      ///< that each arm trained from each seed; validations do not count
    std::vector<Pair> seeds; ///< loss of each arm; logRatio = log(a / b)
    double a = 0, b = 0;     ///< geometric means
    Interval ratio;          ///< a / b: above 1 the change's loss is the lower one
    Interval saved;          ///< a − b in units of the loss
    std::array<std::size_t, 2> diverged{}; ///< seeds from which the training of each arm was lost
};

struct ExperimentResult {
    ExperimentPlan plan;
    std::vector<Pair> pairs;   ///< judged by convergence: one for each seed
    Interval samplesPerSecond; ///< ratio b / a with interval
    double samplesPerSecondA = 0, samplesPerSecondB = 0;
    double unitUsA = 0, unitUsB = 0; ///< µs of a step (epoch, validation) in each arm
    Interval savedUs;                ///< measured saving a − b in µs per unit
    double lossA = 0, lossB = 0;     ///< over the same batches; judged by convergence: after equal time
    bool lossParity = true;          ///< they differ by no more than the tolerance
    double lossTolerance = 0;        ///< from the spread of the baseline's losses over seeds; 0: not known
    std::optional<LossAtEqualTime> lossAtEqualTime; ///< only when judged by convergence
    std::int64_t peakBytesA = 0, peakBytesB = 0;    ///< most that tensors held at once, see protocol::TurnResult
    Interval savedBytes;                            ///< measured saving a − b at the peak; only when judged by memory
    Verdict verdict = Verdict::Inconclusive;
    std::string why; ///< one sentence
    double secondsSpent = 0;
    /// No two trainers were resident, since both did not fit into the memory. Losses were not compared, and the peaks
    /// are not known.
    bool oneAtATime = false;
};

/// About how long an experiment of this plan takes, from the last known step time.
/// @param stepUs        µs of a baseline step (epoch, validation)
/// @param validationUs  µs of a validation, of which one judged by convergence has two for each seed; 0: there is none,
///                      or it is not known
std::chrono::seconds expectedDuration(const ExperimentPlan& plan, double stepUs, double validationUs = 0);

/// Two resident trainers taking turns, A B B A …, profiler off. Blocks; call from a worker thread. Where both together
/// run out of memory, one trains at a time, in the same order. With parallel.kind = ddp an arm is all of its ranks.
///
/// Judged by convergence, both train equally long from the same seed, then from the next; what is compared is the loss
/// that they have come to. Where a schedule needs to know the training's length, that is the steps of this time.
/// @param progress  called on the calling thread after every turn
/// @return Error with code Cancelled after `stop`; what was measured until then was given to `progress`
profiler::Result<ExperimentResult> runExperiment(const ExperimentPlan& plan,
                                                 const std::function<void(const ExperimentProgress&)>& progress,
                                                 std::stop_token stop);

/// "pays", "does not pay", "costs", "inconclusive".
std::string_view verdictName(Verdict verdict);

} // namespace advisor
