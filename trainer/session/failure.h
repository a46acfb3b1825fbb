#pragma once

#include "trainer/config/protocol.h"

#include <cstdint>
#include <exception>

namespace trainer {

/// The user-facing error of a failed training: the error of a profiler::Failure as it is; for LibTorch's exceptions,
/// our own texts for out of memory, NaN under debug.anomaly and a few more, otherwise LibTorch's first line.
/// @param step  the step that failed, which becomes a parameter; negative: before the first step
config::protocol::Notice explain(const std::exception& exception, std::int64_t step = -1);

/// Why a step could not be recorded as a CUDA graph: only a warning, because the training continues without it.
config::protocol::Notice explainUncompiled(const std::exception& exception);

} // namespace trainer
