#include "profiler/os/processor.h"

#include <algorithm>
#include <fstream>
#include <string_view>

namespace profiler::os {

namespace {

/// A field of the first core; empty if it is missing.
std::string processorInfo(std::string_view key)
{
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);)
        if (line.starts_with(key))
            return line.substr(std::min(line.find(':') + 2, line.size()));
    return {};
}

} // namespace

std::string processorName()
{
    return processorInfo("model name");
}

std::string processorFlags()
{
    return processorInfo("flags");
}

} // namespace profiler::os
