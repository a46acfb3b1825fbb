#pragma once

#include "advisor/tuner/tuner.h"

#include <string>
#include <string_view>

/// The result of a tuning as text, for the terminal, the report and the app.
namespace advisor {

/// True if samples per second of the best and the start were compared; otherwise the result's ratio is not a
/// measurement.
bool isRatioMeasured(const TuneOutcome& result);
/// True if the whole interval of the measured ratio is above 1.
bool isShownFaster(const TuneOutcome& result);
/// "1.82 × the samples per second (at least 1.70, at most 1.95): 3 of 7 changes kept." Contains a ratio only if one was
/// measured.
std::string tuneSummary(const TuneOutcome& result);
/// All changes of a trial: "batch.size = 64, optimizer.lr_scaling = linear".
std::string changesText(const TuneTrial& trial);
/// The outcome of a trial: "kept", "does not pay", "inconclusive", "failed", "skipped".
std::string_view trialVerdict(const TuneTrial& trial);

} // namespace advisor
