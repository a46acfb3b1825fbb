#pragma once

#include "profiler/model/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace advisor::runner {

/// The words of a command line as a shell reads them: blanks separate words; quotes and backslashes keep blanks in
/// them. Variables, patterns and redirections stay text: no shell runs.
/// @return an error where a quote is not closed
profiler::Result<std::vector<std::string>> shellWords(std::string_view line);

/// The line that a shell reads as these words.
std::string commandLine(const std::vector<std::string>& words);

} // namespace advisor::runner
