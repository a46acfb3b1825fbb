#pragma once

#include "profiler/model/result.h"

#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

/// Stepscope's hooks into Python, and the variables that bring them into each interpreter of a command.
namespace advisor::runner {

/// A process's environment, by name.
using EnvironmentVariables = std::map<std::string, std::string, std::less<>>;
/// Of this process.
EnvironmentVariables currentEnvironment();

/// A file that belongs to this program, in a build as installed. STEPSCOPE_PROGRAMS names the folder that `places` are
/// relative to; without it, that is the folder of the running program.
profiler::Result<std::filesystem::path> findBeside(std::initializer_list<const char*> places, std::string_view what);

struct PythonHooks {
    std::filesystem::path startup; ///< folder that has to come first in PYTHONPATH
    std::filesystem::path preload; ///< library that puts it there where a command sets PYTHONPATH itself; may be empty
};
profiler::Result<PythonHooks> findPythonHooks();

/// Lets each Python interpreter that is started with `environment` load the hooks.
void addHooks(EnvironmentVariables& environment, const PythonHooks& hooks);

} // namespace advisor::runner
