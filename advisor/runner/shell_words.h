#pragma once

#include "profiler/model/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace advisor::runner {

/// Splits a command line into words like a shell: blanks separate words; quotes and backslashes protect blanks.
/// Variables, patterns and redirections are kept as text, because no shell runs.
/// @return an error if a quote is not closed
profiler::Result<std::vector<std::string>> shellWords(std::string_view line);

/// A command line that a shell would split into these words.
std::string commandLine(const std::vector<std::string>& words);

} // namespace advisor::runner
