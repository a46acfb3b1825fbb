#pragma once

#include "profiler/model/result.h"

#include <chrono>
#include <functional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace advisor::cli {

/// How a command ended.
struct CommandEnd {
    pid_t pid = 0;
    int status = 0; ///< exit status
    int signal = 0; ///< that ended it, 0: it exited

    /// What a shell's $? would be: 128 + the signal's number.
    [[nodiscard]] int shellStatus() const { return signal != 0 ? 128 + signal : status; }
    [[nodiscard]] std::string text() const; ///< "ended with 0", "was ended by signal 11 (Segmentation fault)"
};

/// Runs a command with this process's standard streams and terminal, and with `variables` set. Signals that would end
/// this process (SIGTERM, SIGHUP, SIGQUIT, SIGINT unless the terminal gave it to both, SIGUSR1, SIGUSR2) go on to the
/// command; this process waits for its end, whatever comes.
/// Fails when the command cannot be started: not found, not executable, no memory.
/// @param started  called once with the command's process number, when it runs; may make threads
profiler::Result<CommandEnd> runCommand(const std::vector<std::string>& command,
                                        const std::vector<std::pair<std::string, std::string>>& variables,
                                        const std::function<void(pid_t)>& started);

/// Waits until none of `processes` runs any more, or the time is over. Children that the command left behind are taken
/// in meanwhile.
/// @return those that still run
std::vector<pid_t> waitForOthers(std::vector<pid_t> processes, std::chrono::milliseconds atMost);

} // namespace advisor::cli
