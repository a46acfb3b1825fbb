#pragma once

#include "profiler/model/message.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <vector>

/// Checks of a command before it is started: a form shows what is wrong next to the field that is wrong, and the
/// terminal says it before anything runs.
namespace advisor::runner {

/// A command to be started.
struct Launch {
    std::vector<std::string> words;       ///< program and arguments
    std::filesystem::path folder;         ///< working directory
    std::vector<std::string> environment; ///< NAME=VALUE, added to this process's environment
};

struct LaunchProblem {
    enum class Field { Command, Folder, Environment };
    Field field = Field::Command;
    profiler::Error::Code code = profiler::Error::Code::Invalid;
    profiler::Message what;
    std::string where; ///< file or entry; may be empty
    std::string hint;  ///< the next step; may be empty
};

/// What would keep the command from running: a missing or unusable working directory, entries of the environment that
/// are no assignments, a program that is not in PATH or not executable, and a script, named to Python or a shell, that
/// cannot be read. A leading `env` with assignments is looked through. Empty: nothing is known to be wrong.
std::vector<LaunchProblem> checkLaunch(const Launch& launch);

/// What people call the program that a command runs: its script ("train.py") or module ("pkg.train"), behind
/// interpreters and launchers, else the file name of the command itself.
std::string programName(const std::vector<std::string>& command);

} // namespace advisor::runner
