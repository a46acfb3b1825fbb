#pragma once

#include "trainer/config/training_config.h"
#include "trainer/loop/progress.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace trainer {

/// How a few steps with some batch size ended.
struct BatchTrial {
    enum class Outcome { Fits, OutOfMemory, Failed } outcome = Outcome::Failed;
    profiler::Message why; ///< Failed: what the trainer said; empty where it said nothing of its own
};

/// The largest batch that fits: doubles it until it does not, then halves the gap down to an eighth.
/// @param most  never tried beyond
/// @return nullopt when not even the first fits, or when `tryOut` failed otherwise before one fitted; what fails after
/// that is too large
std::optional<std::int64_t> searchBatch(std::int64_t first, std::int64_t most,
                                        const std::function<BatchTrial(std::int64_t)>& tryOut);

/// The largest batch that a data set of so many samples and the setting batch.size allow.
std::int64_t largestBatch(std::int64_t samples);

/// Trains a few steps with this batch size in a fresh process of this program, which may run out of memory without
/// harm.
/// @param limitBytes  of memory on the processor (RLIMIT_DATA); 0: what is available now, less a tenth
BatchTrial tryBatch(const config::TrainingConfig& config, std::int64_t batch, std::int64_t limitBytes);

} // namespace trainer
