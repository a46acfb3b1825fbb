#pragma once

#include "advisor/experiment/trainer_arm.h"

#include <chrono>
#include <filesystem>
#include <string>

namespace advisor {

/// What is timed of a training that runs by itself, as whole runs do, and takes no turns.
struct LoneSpan {
    std::int64_t drop = 0;  ///< steps that do not count at its begin; 0: until it is warm
    std::int64_t count = 0; ///< steps that do, at least; 0: as many as last `time`
    std::chrono::milliseconds time{1000};
};
struct LoneResult {
    std::int64_t dropped = 0, steps = 0, samples = 0;
    double seconds = 0; ///< of these steps; validations and what else lies between them do not count
};

/// Starts a trainer, times it, ends it and waits until it is gone. Blocks.
/// @param name  as errors call it
Outcome<LoneResult> trainAlone(const std::filesystem::path& program, const config::TrainingConfig& config,
                               const std::string& name, const LoneSpan& span, const Bounds& bounds);

} // namespace advisor
