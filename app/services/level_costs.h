#pragma once

#include "profiler/analysis/recording_cost.h"
#include "trainer/config/training_config.h"

#include <QDateTime>
#include <optional>
#include <string>

namespace app {

/// The overhead of recording operators on this machine in the last measurement, by level, workload and device.
struct LevelCost {
    profiler::analysis::RecordingCost cost;
    QDateTime when;
    std::optional<double> otherLoad; ///< share of all cores used by other processes at that time; none: unknown
};

/// For the level, workload and device of this configuration; none if it was never measured here.
std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration);
/// The same for another level.
std::optional<LevelCost> levelCost(const config::TrainingConfig& configuration, const std::string& level);
/// Share of the steps that record operators with these settings, [0, 1].
double recordedShare(const config::TrainingConfig& configuration);
/// Stored in the settings, replacing the previous measurement. Only for runs on this machine.
/// @param otherLoad  as in LevelCost
void keepLevelCost(const config::TrainingConfig& configuration, const profiler::analysis::RecordingCost& cost,
                   std::optional<double> otherLoad = {});

} // namespace app
