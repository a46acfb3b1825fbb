#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

/// What a shell would expand: lines into words, and patterns into paths.
namespace profiler::os {

enum class ShellExpansionError {
    Syntax,          ///< a quote or a bracket is not closed
    SeveralCommands, ///< it contains | & ; < > ( ) { } or a command substitution
    TooLong          ///< no memory is left for the words
};

/// Expands a line into words like a shell: quotes, variables, "~" and file name patterns. No command is run.
/// Not thread-safe with a change of the environment.
std::variant<std::vector<std::string>, ShellExpansionError> expandShellWords(const std::string& line);

/// The files and folders that match a shell pattern ("traces/rank*.json"), sorted; empty if there are none.
std::vector<std::filesystem::path> matchingPaths(const std::string& pattern);

} // namespace profiler::os
