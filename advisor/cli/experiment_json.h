#pragma once

#include "advisor/experiment/experiment.h"

#include <nlohmann/json.hpp>

namespace advisor::cli {

/// The fields of `experiment --json`.
nlohmann::ordered_json toJson(const ExperimentResult& result);

} // namespace advisor::cli
