#pragma once

#include "profiler/analysis/detailed_analysis.h"

#include <nlohmann/json.hpp>

namespace app::terminal {

/// Adds `launches`, `critical_path`, `copy_bandwidth`, `memset_origins`, `sync_callers`, `loader_workers` and
/// `stragglers`. Each except the path has `cannot_tell`: the reason why the trace does not support it, or null.
void addDetailedAnalysis(nlohmann::ordered_json& json, const profiler::analysis::DetailedAnalysis& analysis);

} // namespace app::terminal
