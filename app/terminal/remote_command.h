#pragma once

#include "advisor/runner/remote_host.h"
#include "app/terminal/commands.h"
#include "profiler/model/result.h"

#include <string>

namespace CLI {
class App;
}

/// Commands that read traces on another machine: the uploaded stepscope-cli runs there and sends back only its answer.
namespace app::terminal {

/// Adds --host, --through and --host-folder to a command.
/// @param place  must outlive the command
/// @param hostHelp  help text of --host
void addRemotePlace(CLI::App& command, RemotePlace& place, const std::string& hostHelp);
/// Adds them to all commands that read traces.
/// @param app  has these commands
void addRemoteReaders(CLI::App& app, RemotePlace& place);

/// How to reach the place; fails if it names no host and no command.
profiler::Result<advisor::runner::RemoteHost> hostOf(const RemotePlace& place);

/// Runs the command that was parsed on the remote machine, with the same options. Files that it reads are there; the
/// file that it writes is fetched. @return its exit status
int runRemotely(const CLI::App& command, const RemotePlace& place, const Streams& streams);

} // namespace app::terminal
