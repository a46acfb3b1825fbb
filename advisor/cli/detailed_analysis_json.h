#pragma once

#include "profiler/analysis/detailed_analysis.h"

#include <nlohmann/json.hpp>

namespace advisor::cli {

/// Adds `launches`, `critical_path`, `copy_bandwidth`, `memset_origins`, `sync_callers`, `loader_workers` and
/// `stragglers`. Each but the path has `cannot_tell`: why the trace does not tell it, or null.
void addCloserLook(nlohmann::ordered_json& json, const profiler::analysis::DetailedAnalysis& look);

} // namespace advisor::cli
