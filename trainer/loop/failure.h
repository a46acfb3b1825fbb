#pragma once

#include "trainer/config/protocol.h"

#include <cstdint>
#include <exception>

namespace trainer {

/// What ended a training, for users: the error of a profiler::Failure as it is; of LibTorch's exceptions out of memory,
/// NaN under debug.anomaly and a few more have texts of ours, others keep LibTorch's first line.
/// @param step  at which it ended, which becomes a parameter; negative: before the first
config::protocol::Notice explain(const std::exception& exception, std::int64_t step = -1);

/// Why a step could not be recorded as a CUDA graph: a warning, since the training goes on without it.
config::protocol::Notice explainUncompiled(const std::exception& exception);

} // namespace trainer
