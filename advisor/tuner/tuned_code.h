#pragma once

#include "advisor/tuner/tuner.h"

#include <string>
#include <string_view>
#include <vector>

namespace advisor {

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
