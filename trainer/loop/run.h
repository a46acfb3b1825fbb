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
    ProcessGroup* group = nullptr; ///< those who train together; null: nobody else
};

/// A command that the trainer cannot read. @param why  as parseCommand() says it
profiler::Message notUnderstood(const std::string& why);

/// Trains for the configured steps or epochs, a validation pass after each, until the end or a Stop. Throws
/// profiler::Failure where the loss is not finite and run.on_nan = stop.
config::protocol::Done trainThrough(Training& training, const Surroundings& around);
/// Parked until a Turn comes; answers each; until a Stop. Of several ranks the first takes commands, for all, and
/// answers for all: samples are those of all ranks, losses their means, the peak that of the rank that needs most.
config::protocol::Done trainByTurns(Training& training, const Surroundings& around);
/// Steps that the configuration asks for.
std::int64_t plannedSteps(const config::TrainingConfig& config, std::int64_t stepsPerEpoch);

} // namespace trainer
