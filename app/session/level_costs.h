#pragma once

#include "profiler/analysis/recording_cost.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <optional>
#include <string>

namespace app {

/// What recording operators cost on this machine when it was measured last, by level, workload and device.
struct LevelCost {
    profiler::analysis::RecordingCost cost;
    QDateTime when;
    std::optional<double> otherLoad; ///< share of all cores that other processes used meanwhile; none: not known
};

/// Of the level, workload and device of this configuration; none when no run here has told it.
std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration);
/// The same for another level.
std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration, const std::string& level);
/// Share of the steps that record operators with these settings, [0, 1].
double recordedShare(const config::TrainingConfig& configuration);
/// Kept in the settings, in place of what was measured before. For runs of this machine only.
/// @param otherLoad  as LevelCost has it
void keepLevelCost(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                   std::optional<double> otherLoad = {});

} // namespace app
