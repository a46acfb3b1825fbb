#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <filesystem>
#include <stop_token>

namespace advisor {

/// Trains with this configuration for a while and stops; the trace is in `file` when this returns. Blocks.
/// @param least training time from the first step; training may end by itself before
/// @return an error if the configuration cannot be trained; Cancelled after `stop`
profiler::Result<void> recordTraining(const std::filesystem::path& trainer, const config::TrainingConfig& config,
                                      const std::filesystem::path& file, std::chrono::milliseconds least,
                                      const std::stop_token& stop);

/// Long enough for a few windows of recorded operators, short compared with an experiment.
inline constexpr std::chrono::seconds kRecordForRules{8};

} // namespace advisor
