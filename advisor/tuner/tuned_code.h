#pragma once

#include "advisor/tuner/tuner.h"

#include <string>
#include <string_view>
#include <vector>

namespace advisor {

/// What is to be pasted into a training script for a setting that tuning changed.
struct TunedCode {
    std::string rule; ///< whose tip it is
    config::Difference setting;
    std::string python, cpp;
};
/// One of each setting that differs between start and best and whose tip has code, in the settings' order; none of a
/// batch of which an update of the weights sees as many samples as before, in more parts or fewer.
std::vector<TunedCode> codeToPaste(const TuneResult& result);
/// The same as one text, each piece under its setting. @param heading  tip_section::kPyTorch or kLibTorch
std::string codeText(const TuneResult& result, std::string_view heading);
/// Both languages as Markdown; says so where nothing was kept.
std::string codeMarkdown(const TuneResult& result);

} // namespace advisor
