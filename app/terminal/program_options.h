#pragma once

#include "advisor/experiment/program_arm.h"
#include "app/terminal/commands.h"
#include "profiler/model/result.h"

namespace app::terminal {

/// The setup for commands that run a user's program several times: checked, with a folder for logs, and with the
/// program in both arms.
profiler::Result<advisor::ProgramSetup> programSetup(const ProgramOptions& options);

/// Removes the folder for logs if the command has created it and it is empty.
void removeUnusedLogs(const ProgramOptions& options, const advisor::ProgramSetup& setup);

} // namespace app::terminal
