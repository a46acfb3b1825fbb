#pragma once

#include "profiler/model/result.h"

#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

/// Stepscope's Python hooks, and the variables that load them in each interpreter that a command starts.
namespace advisor::runner {

/// A process's environment, by name.
using EnvironmentVariables = std::map<std::string, std::string, std::less<>>;
/// The environment of this process.
EnvironmentVariables currentEnvironment();

/// A file that belongs to this program, in a build tree or an installation. `places` are relative to the folder in
/// STEPSCOPE_PROGRAMS; if it is not set, to the folder of the running program.
profiler::Result<std::filesystem::path> findNearProgram(std::initializer_list<const char*> places,
                                                        std::string_view what);

struct PythonHooks {
    std::filesystem::path startup; ///< folder that must be first in PYTHONPATH
    std::filesystem::path preload; ///< library that puts the folder there if a command sets PYTHONPATH itself; may be
                                   ///< empty
};
profiler::Result<PythonHooks> findPythonHooks();

/// Changes `environment` so that each Python interpreter started with it loads the hooks.
void addHooks(EnvironmentVariables& environment, const PythonHooks& hooks);

} // namespace advisor::runner
