#pragma once

#include "advisor/runner/child_process.h"
#include "profiler/model/result.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

/// Short-lived programs that answer on their standard output: the patcher's interpreter and git.
namespace advisor::change {

struct ToolOutput {
    int status = -1; ///< exit status; 128 + signal number if a signal ended it
    std::string text;
};

struct ToolLimits {
    /// Chosen: parsing a hundred large source files takes a few seconds.
    std::chrono::milliseconds time = std::chrono::seconds(30);
    std::size_t bytes = std::size_t{64} << 20;
};

/// Runs a program until it exits. Its standard input is empty.
/// @return an error if it cannot be started or exceeds a limit, in which case it is killed
profiler::Result<ToolOutput> runTool(const ChildCommand& command, const ToolLimits& limits = {});

/// Finds a program by name in the absolute folders of PATH; a name with a slash is a path.
profiler::Result<std::filesystem::path> findTool(std::string_view name);

} // namespace advisor::change
