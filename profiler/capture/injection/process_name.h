#pragma once

#include <string>

namespace profiler::capture::injection {

/// What this process is called: its program without the folder, and its arguments, cut where they get long.
std::string processName();

} // namespace profiler::capture::injection
