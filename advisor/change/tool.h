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
    int status = -1; ///< exit status; 128 + signal where a signal ended it
    std::string text;
};

struct ToolLimits {
    /// Chosen: parsing a hundred large source files takes a few seconds.
    std::chrono::milliseconds time = std::chrono::seconds(30);
    std::size_t bytes = std::size_t{64} << 20;
};

/// Runs a program to its end. Its standard input is empty.
/// @return an error where it cannot be started, or exceeds a limit; it is killed then
profiler::Result<ToolOutput> runTool(const ChildCommand& command, const ToolLimits& limits = {});

/// A program by its name in the absolute folders of PATH; a name with a slash is a path.
profiler::Result<std::filesystem::path> findTool(std::string_view name);

} // namespace advisor::change
