#pragma once

#include "trainer/config/training_config.h"
#include "trainer/session/commands.h"
#include "trainer/session/progress.h"
#include "trainer/session/training.h"

namespace trainer {

/// What a run needs in addition to the training: progress, commands, recording.
struct Surroundings {
    const config::TrainingConfig& config;
    Recording& recording;
    Progress& progress;
    Commands& commands;
    ProcessGroup* group = nullptr; ///< the ranks that train together; null: this process alone
};

/// Trains for the configured steps or epochs, with a validation pass after each epoch, until the end or a Stop. Throws
/// profiler::Failure if the loss is not finite and run.on_nan = stop.
config::protocol::Done trainThrough(Training& training, const Surroundings& around);
/// Parked until a Turn arrives, then answers it; repeats until a Stop. With several ranks, the first receives the
/// commands and answers for all: samples are summed over the ranks, losses averaged, and the peak is the maximum.
config::protocol::Done trainByTurns(Training& training, const Surroundings& around);

} // namespace trainer
