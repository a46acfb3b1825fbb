#pragma once

#include "advisor/experiment/experiment.h"
#include "advisor/experiment/trainer_arm.h"

#include <array>
#include <optional>
#include <span>
#include <string>

namespace advisor {

/// An experiment that has been checked and can begin: what both kinds of it share.
struct ExperimentRun {
    const ExperimentPlan& plan;
    std::filesystem::path program;
    std::array<config::TrainingConfig, 2> configs; ///< baseline, change
    std::array<std::string, 2> names;              ///< as errors call them
    const std::function<void(const ExperimentProgress&)>& progress;
    Bounds bounds;
    Bounds::Clock::time_point begin = Bounds::Clock::now();

    [[nodiscard]] double secondsSpent() const;
    void tell(const ExperimentProgress& state) const;
};

/// What trainers prepare, in words, five times a second at most: what one of them had to say while the other was
/// listened to comes all at once.
class PreparingTold {
public:
    /// No value: told just now.
    std::optional<std::string> text(const config::protocol::Preparing& preparing);

private:
    Bounds::Clock::time_point m_told{};
};

/// Steps, epochs or validations per second, in turns.
profiler::Result<ExperimentResult> measureThroughput(const ExperimentRun& run);
/// Peak memory, each arm alone in fresh processes: two residents would share what they compete for.
profiler::Result<ExperimentResult> measureMemory(const ExperimentRun& run);
/// Loss at equal time, seed by seed.
profiler::Result<ExperimentResult> measureConvergence(const ExperimentRun& run);

/// A start of both trainers, by experience: LibTorch and the data set's index.
inline constexpr double kStartSeconds = 2;
/// @param unitSeconds  of a baseline's step (epoch, validation); 0: not known
double estimatedSeconds(const ExperimentPlan& plan, double unitSeconds, std::size_t pairs);

/// The same of an experiment on memory, whose pairs are two processes of a few steps each.
/// @param pairs  0: until the first look, at which most end
double estimatedMemorySeconds(const ExperimentPlan& plan, double stepSeconds, std::size_t pairs);

/// How long both arms train from each seed, in seconds.
/// @param stepSeconds  of the slower arm
/// @param trainingSeconds  of the baseline's whole training; 0: not known
/// @param overheadSeconds  that each seed takes beside its training: starts, warming up, validations
double horizonSeconds(const ExperimentPlan& plan, double stepSeconds, double trainingSeconds, double overheadSeconds);

/// b / a and both speeds as geometric means over the pairs.
/// @param observations  independent of each other; log ratios that the interval comes from
void setSpeeds(ExperimentResult& result, std::span<const double> observations);
/// Sets savedUs: a − b per unit of the baseline's, from the ratio: a · (1 − 1 / ratio). A larger batch does more in a
/// step; so this is the time saved on the work of a baseline's step.
void setSavedTime(ExperimentResult& result);
/// One sentence for a verdict on throughput.
std::string explain(const ExperimentResult& result, bool outOfTime);
/// "1.43 (95 % interval 1.40–1.46)".
std::string intervalText(const Interval& interval);

} // namespace advisor
