#pragma once

#include "advisor/tuner/tuner.h"

#include <string>
#include <string_view>

/// What a tuning found, in words, for terminal, report and app alike.
namespace advisor {

/// Was the best compared with the start in samples per second? Else the result's ratio stands for no measurement.
bool isRatioMeasured(const TuneOutcome& result);
/// "1.82 × the samples per second (at least 1.70, at most 1.95): 3 of 7 changes kept." A ratio only where one was
/// measured.
std::string tuneSummary(const TuneOutcome& result);
/// What became of a trial: "kept", "does not pay", "inconclusive", "failed", "skipped".
std::string_view trialVerdict(const TuneTrial& trial);

} // namespace advisor
