#pragma once

#include "advisor/advice.h"
#include "advisor/experiment/arm.h"
#include "advisor/experiment/loss_test.h"
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
    std::vector<Toggle> changes; ///< what the second arm has different; empty: A against A, unless isChangeUnknown
    /// The second arm differs by a diff or a command of the user's: no row of a knob says what it may affect.
    bool isChangeUnknown = false;
    JudgedBy judgedBy = JudgedBy::Time;
    std::string measure = "steps"; ///< "steps", "epoch", "validation"
    std::optional<Saving> predicted;
    std::filesystem::path trainer;  ///< empty: findTrainer()
    std::chrono::seconds budget{0}; ///< 0: no limit but the plan's looks
    /// A turn lasts about so long: long against a trainer's wake-up, short against the drift of the machine. (Five
    /// steps, one epoch or one validation at least.)
    std::chrono::milliseconds turn{1000};
    /// Screening at equal time: both arms train so long from each seed. 0: as long as the baseline's training is, at
    /// most kHorizon, and less where the budget is too small for that. Where a change gives the arms other batches and
    /// is judged by time, the turns of a start are as long together.
    std::chrono::milliseconds horizon{0};
};
/// What a change does to the learning may show late, but up to ten seeds have to be trained: longer only when the user
/// grants it.
inline constexpr std::chrono::seconds kHorizon{20};

/// The change is judged by the loss after equal time. Over seconds that is a screening: it does not say which training
/// ends better.
[[nodiscard]] bool isScreening(const ExperimentPlan& plan);

/// The change may affect the loss by more than rounding: then it pays only where the loss is shown to be not worse.
[[nodiscard]] bool mayChangeLoss(const ExperimentPlan& plan);

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
    std::optional<Interval> savedLoss;        ///< a − b at equal time so far; only in a screening
    double secondsSpent = 0, secondsLeft = 0; ///< left: at most, estimated
};

/// Losses of both arms after they trained for equal time.
struct LossAtEqualTime {
    bool validation = false; ///< a validation's mean; else the mean over the last fifth of the training's time
    double seconds = 0;      ///< the horizon: time that each arm trained from each seed, without validations
    std::vector<Pair> seeds; ///< loss of each arm; logRatio = log(a / b)
    double a = 0, b = 0;     ///< geometric means
    Interval ratio;          ///< a / b: above 1 the change's loss is the lower one
    Interval saved;          ///< a − b in units of the loss
    std::array<std::size_t, 2> diverged{}; ///< seeds from which the training of each arm was lost
};

/// How the arms warmed up before their pairs, over all starts.
struct WarmUpReport {
    struct OfArm {
        std::int64_t steps = 0; ///< most units (steps, epochs, validations) of a start before the steady ones
        double seconds = 0;     ///< longest
        bool ended = true;      ///< false: the time limit was reached in at least one start
        std::vector<std::string> causes{}; ///< known ones, where a warm-up was seen: "autotuning", "allocator growth"
    };
    std::array<OfArm, 2> arms;
    double limitSeconds = 0; ///< time limit of a start
};

/// Where a change was measured. Empty: not known.
struct Machine {
    std::string processor; ///< its model, as profiler::os::processorName() has it
    std::string device;    ///< that the arms trained on: "cpu" or the GPU's name

    [[nodiscard]] bool isEmpty() const { return processor.empty() && device.empty(); }
};

struct ExperimentResult {
    ExperimentPlan plan;
    std::vector<Pair> pairs;   ///< in a screening: one for each seed
    Interval judgedRatio;      ///< what the verdict follows from; above 1 the change is better
    Interval samplesPerSecond; ///< ratio b / a with interval
    double samplesPerSecondA = 0, samplesPerSecondB = 0;
    double unitUsA = 0, unitUsB = 0;                ///< µs of a step (epoch, validation) in each arm
    Interval savedUs;                               ///< measured saving a − b in µs per unit
    LossCheck loss;                                 ///< is the change's loss not worse?
    std::optional<LossAtEqualTime> lossAtEqualTime; ///< in a screening, and where the arms have other batches
    std::int64_t peakBytesA = 0, peakBytesB = 0;    ///< most that tensors held at once, see protocol::TurnResult
    Interval savedBytes;                            ///< measured saving a − b at the peak; only when judged by memory
    Verdict verdict = Verdict::Inconclusive;
    profiler::Message why;                ///< one sentence
    std::vector<profiler::Message> notes; ///< what a reader has to know besides
    NoiseReport noise;
    WarmUpReport warmUp;
    std::array<std::vector<RescaledSetting>, 2> rescaled; ///< of each arm, to the horizon of a screening
    Machine machine;
    double secondsSpent = 0;
    /// No two programs were resident, since both did not fit into the memory, or listen on one port; the peaks are then
    /// not known.
    bool isSequential = false;
    bool sharePort = false; ///< because of the port

    /// `why` and the notes, as one text.
    [[nodiscard]] std::string whyText() const;
};

/// About how long an experiment of this plan takes, from the last known step time.
/// @param stepUs        µs of a baseline step (epoch, validation)
/// @param validationUs  µs of a validation, of which a screening runs two for each seed; 0: no validation, or unknown
std::chrono::seconds expectedDuration(const ExperimentPlan& plan, double stepUs, double validationUs = 0);

/// Measures a change against a baseline. Blocks; call from a worker thread. One sequential design serves three
/// objectives (step time, peak memory, screening at equal time); see statistics.h for its looks. With parallel.kind =
/// ddp an arm is all of its ranks.
///
/// Step time: two resident trainers take turns, A B B A …, without a profiler; each start of both gives two pairs, and
/// is one observation. Where both together run out of memory, each turn has a fresh process to itself. Memory: each
/// turn has a fresh process to itself, since residents would share what they compete for. Screening: both arms train
/// for equal time from the same seed, then from the next. What a schedule counts in steps is rescaled to that time.
/// @param progress  called on the calling thread after every turn
/// @return Error with code Cancelled after `stop`; what was measured until then was given to `progress`
profiler::Result<ExperimentResult> runExperiment(const ExperimentPlan& plan,
                                                 const std::function<void(const ExperimentProgress&)>& progress,
                                                 std::stop_token stop);

/// "pays", "does not pay", "costs", "inconclusive".
std::string_view verdictName(Verdict verdict);

} // namespace advisor
