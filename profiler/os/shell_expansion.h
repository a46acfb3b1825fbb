#pragma once

#include <string>
#include <variant>
#include <vector>

namespace profiler::os {

enum class ShellExpansionError {
    Syntax,          ///< a quote or a bracket is not closed
    SeveralCommands, ///< it contains | & ; < > ( ) { } or a command substitution
    TooLong          ///< no memory is left for the words
};

/// Expands a line into words like a shell: quotes, variables, "~" and file name patterns. No command is run.
/// Not thread-safe with a change of the environment.
std::variant<std::vector<std::string>, ShellExpansionError> expandShellWords(const std::string& line);

} // namespace profiler::os
