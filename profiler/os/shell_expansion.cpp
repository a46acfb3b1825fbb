#include "profiler/os/shell_expansion.h"

#include <glob.h>
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

std::vector<std::filesystem::path> matchingPaths(const std::string& pattern)
{
    std::vector<std::filesystem::path> found;
    glob_t matches{};
    if (::glob(pattern.c_str(), 0, nullptr, &matches) == 0)
        for (std::size_t i = 0; i < matches.gl_pathc; ++i)
            found.emplace_back(matches.gl_pathv[i]);
    ::globfree(&matches);
    return found;
}

} // namespace profiler::os
