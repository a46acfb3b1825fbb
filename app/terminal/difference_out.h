#pragma once

#include "advisor/experiment/difference.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace app::terminal {

/// The output of `diff` for two traces.
nlohmann::ordered_json toJson(const advisor::Difference& difference);
std::string toText(const advisor::Difference& difference);

// What the output for two jobs has in common with it.

/// {"a", "b", "ratio"}; null without a value.
nlohmann::ordered_json figuresJson(const advisor::Difference::Figures& figures);
nlohmann::ordered_json figuresJson(const std::optional<advisor::Difference::Figures>& figures);
/// The first fields of the output: whether the traces are comparable.
nlohmann::ordered_json comparabilityJson(const advisor::Difference& difference);
/// Adds `verdict`, `headline` and `statistic`.
void addVerdict(nlohmann::ordered_json& json, const advisor::Difference& difference);
/// Headline, statistic, reasons and notes, one per line.
std::string verdictLines(const advisor::Difference& difference);

} // namespace app::terminal
