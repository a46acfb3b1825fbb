#pragma once

#include "trainer/config/protocol.h"
#include "trainer/config/training_config.h"
#include "trainer/loop/progress.h"

#include <filesystem>

namespace trainer {

/// One start of the trainer, as the command line asks for it.
struct Invocation {
    config::TrainingConfig config;
    std::filesystem::path trace; ///< empty: none is written
    bool turns = false;          ///< wait for Turn commands on stdin
};

/// Trains. LibTorch's exceptions end here: each becomes a notice of severity Error. Whatever happens, the trace gets
/// its end.
config::protocol::Exit runSession(const Invocation& invocation, Progress& progress);

} // namespace trainer
