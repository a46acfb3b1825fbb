#include "profiler/os/file_pattern.h"

#include <glob.h>

namespace profiler::os {

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
