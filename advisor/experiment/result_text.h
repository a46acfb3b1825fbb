#pragma once

#include "advisor/experiment/experiment.h"

#include <optional>
#include <string>

/// Predicted and measured values as text for tables; a dash for unknown values.
namespace advisor {

/// "1.430 (1.400–1.460)"
std::string ratioText(const Interval& ratio);
/// "12.1–20.4 ms", "at most 95.0 MB"
std::string predictedText(const std::optional<Saving>& saving);
/// The quantity that the verdict is about, time, memory or loss: "12.3 ms (10.6 ms to 13.8 ms)".
std::string measuredText(const ExperimentResult& result);

} // namespace advisor
