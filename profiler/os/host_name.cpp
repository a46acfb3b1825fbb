#include "profiler/os/host_name.h"

#include <array>
#include <unistd.h>

namespace profiler::os {

std::string hostName()
{
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

} // namespace profiler::os
