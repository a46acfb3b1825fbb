#pragma once

#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"
#include "trainer/session/progress.h"

#include <filesystem>

namespace trainer {

/// One run of the trainer, as described by the command line.
struct Invocation {
    config::TrainingConfig config;
    std::filesystem::path trace; ///< empty: no trace is written
    bool turns = false;          ///< wait for Turn commands on stdin
};

/// Trains. Exceptions of LibTorch do not leave this function: each becomes a notice of severity Error. The trace is
/// always finished properly.
config::protocol::Exit runSession(const Invocation& invocation, Progress& progress);

/// The capabilities of this trainer and the device it can use.
config::protocol::Description describe();

} // namespace trainer
