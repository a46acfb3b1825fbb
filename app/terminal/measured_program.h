#pragma once

#include "advisor/experiment/program_arm.h"
#include "app/terminal/commands.h"
#include "profiler/model/result.h"
#include "profiler/model/trace.h"
#include "profiler/os/files.h"

#include <filesystem>
#include <memory>
#include <stop_token>

/// A user's program that `experiment` and `tune` run several times: its setup, and recordings of it.
namespace app::terminal {

/// The setup for commands that run a user's program several times: checked, with a folder for logs, and with the
/// program in both arms.
profiler::Result<advisor::ProgramSetup> programSetup(const ProgramOptions& options);

/// Removes the folder for logs if the command has created it and it is empty.
void removeUnusedLogs(const ProgramOptions& options, const advisor::ProgramSetup& setup);

/// The recordings that a command makes of a program for its own use (runner/program_recording.h). Keep this object
/// longer than the traces: parts of a trace are read from the files on demand.
class Recordings {
public:
    /// Records the variant of the program. Blocks while the program starts and for some seconds more.
    profiler::Result<std::shared_ptr<const profiler::Trace>>
    record(const advisor::ProgramSetup& setup, const advisor::ProgramVariant& variant, const std::stop_token& stop);

private:
    profiler::os::TemporaryFolder m_folder{profiler::os::temporaryPath("stepscope-record-")};
    int m_count = 0;
};

} // namespace app::terminal
