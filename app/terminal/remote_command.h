#pragma once

#include "app/terminal/commands.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}

/// Commands that read traces on another machine: the uploaded stepscope-cli runs there, and only its answer comes here.
namespace app::terminal {

/// Where a command runs.
struct RemotePlace {
    std::optional<std::string> host;    ///< this machine, over ssh
    std::optional<std::string> through; ///< or the place where this command runs another one: "docker exec -i NAME"
    std::string folder;                 ///< working directory there; empty: that of the shell
    [[nodiscard]] bool isElsewhere() const { return host || through; }
};

/// Adds --host, --through and --host-folder to the commands that read traces.
/// @param app  has these commands; `place` must outlive it
void addRemotePlace(CLI::App& app, RemotePlace& place);

/// Runs the command that was parsed in the other place, with the same options. Files that it reads are there; the file
/// that it writes comes here. @return its exit status
int runElsewhere(const CLI::App& command, const RemotePlace& place, const Streams& streams);

} // namespace app::terminal
