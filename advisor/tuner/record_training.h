#pragma once

#include "profiler/model/result.h"
#include "trainer/config/training_config.h"

#include <chrono>
#include <filesystem>
#include <stop_token>

namespace advisor {

/// Lets a training of this configuration run for a while and stops it; its trace lies in `file` when this returns.
/// Blocks.
/// @param least  how long it trains from its first step; it may end by itself before
/// @return an error where it cannot be trained; Cancelled after `stop`
profiler::Result<void> recordTraining(const std::filesystem::path& trainer, const config::TrainingConfig& config,
                                      const std::filesystem::path& file, std::chrono::milliseconds least,
                                      const std::stop_token& stop);

/// Long enough for a few windows of recorded operators, short against an experiment.
inline constexpr std::chrono::seconds kRecordForRules{8};

} // namespace advisor
