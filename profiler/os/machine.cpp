#include "profiler/os/machine.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <unistd.h>

namespace profiler::os {

std::string hostName()
{
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

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
