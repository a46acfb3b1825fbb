#pragma once

#include "trainer/config/protocol.h"

#include <cstdint>
#include <exception>

namespace trainer {

/// What ended a training, in words for users: out of memory, NaN under debug.anomaly and models that do not fit get
/// advice, others LibTorch's own first line.
/// @param step  at which it ended; negative: before the first
config::protocol::Notice explain(const std::exception& exception, std::int64_t step = -1);

/// Why a step could not be recorded as a CUDA graph: a warning, since the training goes on without.
config::protocol::Notice explainUncompiled(const std::exception& exception);

} // namespace trainer
