#pragma once

#include "advisor/tuner/tuner.h"

#include <string>
#include <string_view>
#include <vector>

/// The result of a tuning as text and as code to copy, for the terminal, the report and the app.
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

/// Code to copy into a training script for a setting that tuning changed.
struct TunedCode {
    std::string rule; ///< the rule whose tip contains the code
    config::Difference setting;
    std::string python, cpp;
};
/// One piece for each setting that differs between start and best and whose tip has code, in the order of the settings;
/// none for a batch size if the weight update still sees the same number of samples in more or fewer parts.
std::vector<TunedCode> codeToPaste(const TuneResult& result);
/// The same as one text, with each piece after its setting.
/// @param heading tip_section::kPyTorch or kLibTorch
std::string codeText(const TuneResult& result, std::string_view heading);
/// Both languages as Markdown; says so if nothing was kept.
std::string codeMarkdown(const TuneResult& result);

} // namespace advisor
