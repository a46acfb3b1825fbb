#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace trainer_test {

/// N of "--progress-fd N" on this process's command line: the trainer starts itself again for ranks and for trials, and
/// in a test program that is the test program. 0 where there is none.
inline int progressDescriptor()
{
    std::ifstream file("/proc/self/cmdline");
    const std::string words{std::istreambuf_iterator(file), {}};
    const std::string option("--progress-fd\0", 14);
    const auto at = words.find(option);
    return at == std::string::npos ? 0 : std::atoi(words.c_str() + at + option.size());
}

} // namespace trainer_test
