#pragma once

#include "profiler/model/message.h"
#include "profiler/model/result.h"

#include <filesystem>
#include <string>
#include <vector>

/// Checks a command before it is started, so that a form can show a problem next to the field that causes it, and the
/// terminal can report it before anything runs.
namespace advisor::runner {

/// A command to start.
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
    std::string hint;  ///< what to do; may be empty
};

/// Problems that would prevent the command from running: a missing or inaccessible working directory, environment
/// entries that are not assignments, a program that is not in PATH or not executable, and an unreadable script passed
/// to Python or a shell. A leading `env` with assignments is skipped. Empty: no problem was found.
std::vector<LaunchProblem> checkLaunch(const Launch& launch);

/// The usual name of the program that a command runs: its script ("train.py") or module ("pkg.train") after
/// interpreters and launchers, otherwise the file name of the command.
std::string programName(const std::vector<std::string>& command);

} // namespace advisor::runner
