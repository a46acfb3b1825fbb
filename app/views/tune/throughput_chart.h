#pragma once

#include "advisor/tuner/tuner.h"
#include "app/charts/xy_chart.h"
#include "app/services/run_folder.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// Throughput against the values of a numeric knob: of the trials that changed it, with 95 % intervals, and of the kept
/// runs that differ from the tuned configuration in this knob only.
/// @param key      "batch.size", "loader.workers"
/// @param tuned    the configuration in which the tuning started; null: of a program, to which no kept run belongs
XyChart::Content throughputOver(std::string_view key, std::span<const advisor::TuneTrial> trials,
                                std::span<const RunRecord> runs, const config::TrainingConfig* tuned);

} // namespace app
