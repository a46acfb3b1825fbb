#pragma once

#include <string>
#include <string_view>

namespace profiler::capture::injection {

/// Display name of this process: its program without the folder, and its arguments, truncated if they are long.
std::string processName();
/// @param commandLine  as /proc/PID/cmdline has it. A process that Python's multiprocessing spawned is called that, since
/// its command line is Python's own.
std::string processNameOf(std::string_view commandLine);

} // namespace profiler::capture::injection
