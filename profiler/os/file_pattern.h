#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace profiler::os {

/// The files and folders that match a shell pattern ("traces/rank*.json"), sorted; empty if there are none.
std::vector<std::filesystem::path> matchingPaths(const std::string& pattern);

} // namespace profiler::os
