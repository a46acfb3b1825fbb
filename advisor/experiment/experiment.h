#pragma once

#include "advisor/advice.h"
#include "advisor/experiment/arm.h"
#include "advisor/experiment/losses.h"
#include "advisor/experiment/machine_noise.h"
#include "profiler/model/message.h"
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

/// A ratio or a difference with its 95 % interval (valid under the planned early stopping). If it was not measured, the
/// value is NaN and the interval is unbounded.
struct Interval {
    double value = std::numeric_limits<double>::quiet_NaN();
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    /// False if there were too few observations for an interval.
    [[nodiscard]] bool isKnown() const { return std::isfinite(low) && std::isfinite(high); }
};

enum class Verdict { Pays, DoesNotPay, Costs, Inconclusive };

struct ExperimentPlan {
    config::TrainingConfig baseline;
    std::vector<Toggle> changes; ///< the difference of the second arm; empty: A against A, unless isChangeUnknown
    /// The second arm differs by the user's diff or command, for which no knob says what it may affect.
    bool isChangeUnknown = false;
    Objective objective = Objective::Time;
    std::string measure = "steps"; ///< "steps", "epoch", "validation"
    std::optional<Saving> predicted;
    std::filesystem::path trainer;  ///< empty: findTrainer()
    std::chrono::seconds budget{0}; ///< 0: no limit except the planned looks
    /// Approximate duration of a turn: long compared with a trainer's wake-up, short compared with the drift of the
    /// machine. (At least five steps, one epoch or one validation.)
    std::chrono::milliseconds turn{1000};
    /// For a screening at equal time: training time of both arms per seed. 0: the length of the baseline's training
    /// run, at most kHorizon, and less if the budget is too small. If a change gives the arms different batches and the
    /// objective is time, this is the total time of the turns of a start.
    std::chrono::milliseconds horizon{0};
};
/// A change may affect learning late, but up to ten seeds have to be trained, so a longer horizon requires the user's
/// consent.
inline constexpr std::chrono::seconds kHorizon{20};

/// The objective is the loss after equal time. Over seconds, this is a screening: it does not show which training run
/// ends with the better loss.
[[nodiscard]] bool isScreening(const ExperimentPlan& plan);

/// The change may affect the loss by more than rounding; then it pays only if the loss is shown to be not worse.
[[nodiscard]] bool mayChangeLoss(const ExperimentPlan& plan);

/// One pair of turns.
struct Pair {
    double a = 0, b = 0; ///< samples/s of each arm
    double logRatio = 0; ///< log(b / a)
};

struct ExperimentProgress {
    std::string doing; ///< "warming up", "pair 4 of at most 20"
    Objective objective = Objective::Time;
    std::vector<Pair> pairs; ///< same values as in the result
    /// So far; above 1 the change is better. Ratio of speeds b / a, or of losses at equal time a / b.
    std::optional<Interval> ratio;
    std::optional<Interval> savedLoss;        ///< a − b at equal time so far; only in a screening
    double secondsSpent = 0, secondsLeft = 0; ///< upper estimate of the remaining time
};

/// Losses of both arms after equal training time.
struct LossAtEqualTime {
    bool validation = false; ///< mean over a validation; otherwise mean over the last fifth of the training time
    double seconds = 0;      ///< the horizon: training time of each arm per seed, without validations
    std::vector<Pair> seeds; ///< loss of each arm; logRatio = log(a / b)
    double a = 0, b = 0;     ///< geometric means
    Interval ratio;          ///< a / b: above 1 the change has the lower loss
    Interval saved;          ///< a − b in units of the loss
    std::array<std::size_t, 2> diverged{}; ///< number of seeds with which each arm diverged
};

/// The warm-up of each arm before its pairs, over all starts.
struct WarmUpReport {
    struct OfArm {
        std::int64_t steps = 0; ///< largest number of units (steps, epochs, validations) before the steady ones in any
                                ///< start
        double seconds = 0;     ///< of the longest warm-up
        bool ended = true;      ///< false: the time limit was reached in at least one start
        std::vector<std::string> causes{}; ///< known causes, if a warm-up was observed: "autotuning", "allocator
                                           ///< growth"
    };
    std::array<OfArm, 2> arms;
    double limitSeconds = 0; ///< time limit per start
};

/// The machine on which a change was measured. Empty: unknown.
struct Machine {
    std::string processor; ///< CPU model, as returned by profiler::os::processorName()
    std::string device;    ///< the arms' device: "cpu" or the name of the GPU

    [[nodiscard]] bool isEmpty() const { return processor.empty() && device.empty(); }
};

struct ExperimentResult {
    ExperimentPlan plan;
    std::vector<Pair> pairs;   ///< in a screening, one per seed
    Interval judgedRatio;      ///< the ratio that determines the verdict; above 1 the change is better
    Interval samplesPerSecond; ///< ratio b / a with interval
    double samplesPerSecondA = 0, samplesPerSecondB = 0;
    double unitUsA = 0, unitUsB = 0;                ///< µs of a step (epoch, validation) in each arm
    Interval savedUs;                               ///< measured saving a − b in µs per unit
    LossCheck loss;                                 ///< whether the change's loss is not worse
    std::optional<LossAtEqualTime> lossAtEqualTime; ///< in a screening, and if the arms have different batches
    std::vector<LossesOfSeed> losses{}; ///< over time, for each seed; empty if the arms report no losses of steps
    std::int64_t peakBytesA = 0, peakBytesB = 0; ///< peak memory of all tensors, see protocol::TurnResult
    Interval savedBytes;                         ///< measured saving a − b at the peak; only if the objective is
                                                 ///< memory
    Verdict verdict = Verdict::Inconclusive;
    profiler::Message why;                ///< one sentence
    std::vector<profiler::Message> notes; ///< what else a reader has to know
    NoiseReport noise;
    WarmUpReport warmUp;
    std::array<std::vector<RescaledSetting>, 2> rescaled; ///< settings of each arm that were rescaled to the horizon of
                                                          ///< a screening
    Machine machine;
    double secondsSpent = 0;
    /// The programs ran one at a time, because both together did not fit into memory or listen on the same port; the
    /// peaks are then unknown.
    bool isSequential = false;
    bool sharePort = false; ///< sequential because of the port

    /// `why` and the notes as one text.
    [[nodiscard]] std::string whyText() const;
};

/// Approximate duration of an experiment with this plan, from the last known step time.
/// @param stepUs duration of a baseline step (epoch, validation) in µs
/// @param validationUs duration of a validation in µs, of which a screening runs two per seed; 0: no validation, or
/// unknown
std::chrono::seconds expectedDuration(const ExperimentPlan& plan, double stepUs, double validationUs = 0);

/// Measures a change against a baseline. Blocks; call it from a worker thread. One sequential design serves three
/// objectives (step time, peak memory, screening at equal time); see statistics.h for its looks. With parallel.kind =
/// ddp, an arm consists of all of its ranks.
///
/// Step time: two resident trainers take turns, A B B A …, without a profiler; each start of both gives two pairs and
/// is one observation. If both together run out of memory, each turn has its own fresh process. Memory: each turn has
/// its own fresh process, because resident programs would compete for memory. Screening: both arms train for equal time
/// with the same seed, then with the next one. Schedule settings in steps are rescaled to that time.
/// @param progress called on the calling thread after every turn
/// @return Error with code Cancelled after `stop`; what was measured until then was passed to `progress`
profiler::Result<ExperimentResult> runExperiment(const ExperimentPlan& plan,
                                                 const std::function<void(const ExperimentProgress&)>& progress,
                                                 std::stop_token stop);

/// "pays", "does not pay", "costs", "inconclusive".
std::string_view verdictName(Verdict verdict);

} // namespace advisor
