#include "profiler/os/shell_expansion.h"

#include <wordexp.h>

namespace profiler::os {

std::variant<std::vector<std::string>, ShellExpansionError> expandShellWords(const std::string& line)
{
    wordexp_t expanded{};
    const int reason = wordexp(line.c_str(), &expanded, WRDE_NOCMD);
    std::vector<std::string> words;
    if (reason == 0)
        words.assign(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
    if (reason == 0 || reason == WRDE_NOSPACE)
        wordfree(&expanded);
    switch (reason) {
    case 0:
        return words;
    case WRDE_SYNTAX:
        return ShellExpansionError::Syntax;
    case WRDE_NOSPACE:
        return ShellExpansionError::TooLong;
    default:
        return ShellExpansionError::SeveralCommands;
    }
}

} // namespace profiler::os
