#pragma once

#include "trainer/config/training_config.h"
#include "trainer/loop/commands.h"
#include "trainer/loop/training.h"

#include <chrono>

namespace trainer {

/// What a run needs besides the training: who is told, who commands, what is recorded.
struct Surroundings {
    const config::TrainingConfig& config;
    Recording& recording;
    Progress& progress;
    Commands& commands;
};

/// Trains for the configured steps or epochs, a validation pass after each, until the end or a Stop.
config::protocol::Done trainThrough(Training& training, const Surroundings& around);
/// Parked until a Turn comes; answers each; until a Stop.
config::protocol::Done trainByTurns(Training& training, const Surroundings& around);
/// Steps that the configuration asks for.
std::int64_t plannedSteps(const config::TrainingConfig& config, std::int64_t stepsPerEpoch);

} // namespace trainer
