#pragma once

#include <string>

namespace profiler::os {

/// The name of this machine; empty if the kernel does not tell.
std::string hostName();

} // namespace profiler::os
