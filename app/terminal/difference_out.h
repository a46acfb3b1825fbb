#pragma once

#include "advisor/experiment/difference.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace advisor::cli {

/// The output of `diff` for two traces.
nlohmann::ordered_json toJson(const Difference& difference);
std::string toText(const Difference& difference);

// What the output for two jobs has in common with it.

/// {"a", "b", "ratio"}; null without a value.
nlohmann::ordered_json figuresJson(const Difference::Figures& figures);
nlohmann::ordered_json figuresJson(const std::optional<Difference::Figures>& figures);
/// The first fields of the output: whether the traces are comparable.
nlohmann::ordered_json comparabilityJson(const Difference& difference);
/// Adds `verdict`, `headline` and `statistic`.
void addVerdict(nlohmann::ordered_json& json, const Difference& difference);
/// Headline, statistic, reasons and notes, one per line.
std::string verdictLines(const Difference& difference);

} // namespace advisor::cli
